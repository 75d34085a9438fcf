#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "warpline/rtl_models/tlm/pins/pin_wires.h"

/// What stands between the two sides of an opened hop: a register slice in SystemVerilog, or, in a build
/// without Verilator, wires.
struct HardwareInHop {
  static const char* const kind;
  /// Both directions of a hop. `name`: what the modules' names begin with. They outlive the simulation.
  static std::vector<std::unique_ptr<sc_core::sc_module>> make(const std::string& name,
                                                               warpline::PinWires& from_initiator,
                                                               warpline::PinWires& to_target);
};
