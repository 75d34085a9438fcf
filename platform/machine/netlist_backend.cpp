#include "platform/machine/netlist_backend.h"

#include "rtl_models/pcie/packets/tlp_port.h"

namespace warpline {

void NetlistBackend::connect_link(TlpPort& root, TlpPort& other) {
  warpline::connect(root, other);
}

}  // namespace warpline
