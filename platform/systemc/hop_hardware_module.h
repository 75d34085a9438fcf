#pragma once

#include <functional>
#include <string>

#include "platform/systemc/interposer_module.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline {

/// Puts hardware (RTL, or a clocked SystemC module) between the wires of a hop that was opened for it:
/// requests come on `from_initiator.request` and go on to `to_target.request`; answers come on
/// `to_target.response` and go on to `from_initiator.response`. Each of these four channels has all its
/// wires driven, `ready` by its receiver and the others by its sender (see PinChannel; its `clock` is there).
/// A direction that is left alone is joined by a PinThrough. Called once for each hop that fits; the modules
/// are made within, and outlive the simulation; their maker keeps them.
///
/// An answer's identifier is that of its request. Whatever else the hardware does with requests and answers
/// is part of the machine: it may hold them, answer in the target's place, change bytes. The wires lack what
/// an atomic or cache maintenance consists of, so it hands these on, or answers with `error` (see
/// PinsOfInitiator).
using HardwareMaker = std::function<void(const HopSite& hop, PinWires& from_initiator, PinWires& to_target)>;

/// Hops that are opened for hardware: those that a pattern fits (HopSite::matches).
///
/// Their clocks run from the start of the simulation to its end, so it does not end by itself. Requests cross
/// such hops in timed mode only; debug access goes past the hardware.
struct WARPLINE_PUBLIC HopOpening {
  std::string pattern;
  HardwareMaker make;
};

}  // namespace warpline
