#include "warpline/gpu/netlist_driver.h"

#include "warpline/gpu/netlist.h"

namespace warpline {

void DirectDriver::connect(Netlist& netlist) {
  netlist.connect_directly();
}

void DirectDriver::set_loose(Netlist& netlist, bool loose) {
  netlist.set_loose(loose);
}

}  // namespace warpline
