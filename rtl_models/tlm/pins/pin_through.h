#pragma once

#include <systemc>

#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline {

/// Joins two channels as if their wires were the same: for the direction of a hop that hardware leaves alone.
class WARPLINE_PUBLIC PinThrough final : public sc_core::sc_module {
 public:
  /// `from`: where messages come from; `to`: where they go. Both have the same width.
  PinThrough(const sc_core::sc_module_name& name, PinChannel& from, PinChannel& to);

 private:
  void forward();
  void backward();
  PinChannel& from_;
  PinChannel& to_;
};

}  // namespace warpline
