#pragma once

#include <memory>
#include <vector>

#include "platform/machine/selection.h"
#include "rtl_models/pcie/hops/tlp_pin_module.h"
#include "rtl_models/sim/recorder.h"
#include "rtl_models/tlm/pins/pins.h"

namespace warpline {

/// Records the wires of hops that are opened as pins: "l2[0].from_crossbar.request.valid". A wire is shown
/// from cycle to cycle, with the value it has at the end of each: so a beat is taken in every cycle that
/// shows valid and ready. The clock itself is not shown.
class PinWave {
 public:
  /// Watches every hop of `engine`, and every one of `links`, whose receiving port `selection` takes. All
  /// outlive it. Pre: elaboration has not ended.
  PinWave(EngineProcess& engine, const std::vector<const TlpPinWires*>& links, const Selection& selection,
          Recorder& recorder);
  ~PinWave();
  PinWave(const PinWave&) = delete;
  PinWave& operator=(const PinWave&) = delete;

 private:
  std::vector<std::unique_ptr<sc_core::sc_module>> taps_;
};

}  // namespace warpline
