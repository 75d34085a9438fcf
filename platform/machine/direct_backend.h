#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "platform/machine/netlist.h"
#include "platform/machine/netlist_backend.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/exchange.h"

namespace warpline {

/// Port to port, in plain C++.
class DirectBackend final : public NetlistBackend {
 public:
  /// `threads`: see Engine::set_threads; `exchange`: see Engine::share_with, null: there are no other ranks.
  explicit DirectBackend(TickMode mode = TickMode::lazy, std::uint64_t seed = 1, unsigned threads = 1,
                         std::shared_ptr<Exchange> exchange = nullptr)
      : exchange_(std::move(exchange)), engine_(mode, seed) {
    engine_.set_threads(threads);
    if (exchange_ != nullptr) engine_.share_with(*exchange_);
  }
  [[nodiscard]] Engine& engine() override { return engine_; }
  void connect(Netlist& netlist) override { netlist.connect_directly(); }
  void set_loose(Netlist& netlist, bool loose) override { netlist.set_loose(loose); }
  [[nodiscard]] Cycle next_activity() override { return engine_.next_tick(); }
  RunOutcome run_until(Cycle limit) override { return engine_.run_until(limit); }
  [[nodiscard]] Standstill standstill() const override { return engine_.standstill(); }

 private:
  std::shared_ptr<Exchange> exchange_;
  Engine engine_;
};

}  // namespace warpline
