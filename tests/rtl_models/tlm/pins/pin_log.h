#pragma once

#include <vector>

#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline::test {

/// Notes what the wires of a channel say before each rising edge.
class PinLog final : public sc_core::sc_module {
 public:
  struct Entry {
    Cycle cycle = 0;  ///< that the edge ends
    bool valid = false, ready = false, last = false;
    PinChannel::Word beat = 0, origin = 0, address = 0, identifier = 0;
  };
  PinLog(const sc_core::sc_module_name& name, EngineProcess& engine, PinChannel& channel)
      : sc_module(name), engine_(engine), channel_(channel) {
    SC_HAS_PROCESS(PinLog);
    SC_METHOD(edge);
    dont_initialize();
    sensitive << channel.clock.posedge_event();
  }
  std::vector<Entry> entries;

 private:
  void edge() {
    const ClockDomain& d = channel_.domain.domain();
    const Cycle now = engine_.cycle_of(sc_core::sc_time_stamp());
    entries.push_back({d.cycle_of(d.edge_at_or_after(now) - 1), channel_.valid.read(), channel_.ready.read(),
                       channel_.last.read(), channel_.beat.read(), channel_.origin.read(),
                       channel_.address.read(), channel_.identifier.read()});
  }
  EngineProcess& engine_;
  PinChannel& channel_;
};

}  // namespace warpline::test
