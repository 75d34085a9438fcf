#pragma once

#include <cstdint>

#include "platform/machine/netlist.h"
#include "platform/machine/netlist_backend.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// Port to port, in plain C++.
class DirectBackend final : public NetlistBackend {
 public:
  /// `threads`: see Engine::set_threads.
  explicit DirectBackend(TickMode mode = TickMode::lazy, std::uint64_t seed = 1, unsigned threads = 1)
      : engine_(mode, seed) {
    engine_.set_threads(threads);
  }
  [[nodiscard]] Engine& engine() override { return engine_; }
  void connect(Netlist& netlist) override { netlist.connect_directly(); }
  void set_loose(Netlist& netlist, bool loose) override { netlist.set_loose(loose); }
  [[nodiscard]] Cycle next_activity() override { return engine_.next_tick(); }
  RunOutcome run_until(Cycle limit) override { return engine_.run_until(limit); }
  [[nodiscard]] Standstill standstill() const override { return engine_.standstill(); }

 private:
  Engine engine_;
};

}  // namespace warpline
