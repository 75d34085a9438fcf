#include "platform/machine/direct_backend.h"

#include "platform/machine/netlist.h"

namespace warpline {

void DirectBackend::connect(Netlist& netlist) {
  netlist.connect_directly();
}

void DirectBackend::set_loose(Netlist& netlist, bool loose) {
  netlist.set_loose(loose);
}

}  // namespace warpline
