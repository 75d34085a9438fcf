#include "../rtl_hop/rtl_between.h"
#include "VSlice.h"
#include "hardware_in_hop.h"

const char* const HardwareInHop::kind = "a SystemVerilog slice";

std::vector<std::unique_ptr<sc_core::sc_module>> HardwareInHop::make(const std::string& name,
                                                                     warpline::PinWires& from_initiator,
                                                                     warpline::PinWires& to_target) {
  std::vector<std::unique_ptr<sc_core::sc_module>> rtl;
  rtl.push_back(put_between<VSlice>(name + "_request", from_initiator.request, to_target.request));
  rtl.push_back(put_between<VSlice>(name + "_response", to_target.response, from_initiator.response));
  return rtl;
}
