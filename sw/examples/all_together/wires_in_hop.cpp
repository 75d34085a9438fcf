#include "hardware_in_hop.h"
#include "warpline/rtl_models/tlm/pins/pin_through.h"

const char* const HardwareInHop::kind = "wires (no Verilator)";

std::vector<std::unique_ptr<sc_core::sc_module>> HardwareInHop::make(const std::string& name,
                                                                     warpline::PinWires& from_initiator,
                                                                     warpline::PinWires& to_target) {
  std::vector<std::unique_ptr<sc_core::sc_module>> wires;
  wires.push_back(std::make_unique<warpline::PinThrough>((name + "_request").c_str(), from_initiator.request,
                                                         to_target.request));
  wires.push_back(std::make_unique<warpline::PinThrough>((name + "_response").c_str(), to_target.response,
                                                         from_initiator.response));
  return wires;
}
