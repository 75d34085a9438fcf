#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <utility>

#include "platform/systemc/systemc_backend.h"
#include "tests/support/protocol_checker.h"

namespace warpline::test {

/// Puts a checker of the base protocol into every hop of a GPU. Outlives the simulation.
class CheckedHops {
 public:
  [[nodiscard]] Interposer interposer() {
    return [this](const HopSite& site) -> HopSockets {
      ProtocolChecker& checker = checkers_.emplace_back(site.module_name.c_str());
      return {&checker.from_initiator, &checker.to_target};
    };
  }
  /// Fails for every violation. `ended`: nothing is in flight any more, so that what was left over is one,
  /// too.
  void expect_clean(bool ended = true) {
    for (ProtocolChecker& checker : checkers_) {
      if (ended) checker.finish();
      for (const std::string& violation : checker.violations()) ADD_FAILURE() << violation;
    }
  }
  [[nodiscard]] std::size_t hops() const { return checkers_.size(); }
  /// Requests seen, on all hops: timed ones, and calls of b_transport.
  [[nodiscard]] std::uint64_t timed() const {
    std::uint64_t n = 0;
    for (const ProtocolChecker& checker : checkers_) n += checker.counts().begin_req;
    return n;
  }
  [[nodiscard]] std::uint64_t loose() const {
    std::uint64_t n = 0;
    for (const ProtocolChecker& checker : checkers_) n += checker.unchecked().b_transport;
    return n;
  }

 private:
  std::deque<ProtocolChecker> checkers_;
};

/// A backend in SystemC with a checker on every hop.
inline std::shared_ptr<SystemCBackend> checked_backend(const GpuConfig& config, CheckedHops& hops,
                                                       TickMode mode = TickMode::lazy,
                                                       std::uint64_t seed = 1) {
  auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct, mode, seed);
  backend->interpose(hops.interposer());
  return backend;
}

}  // namespace warpline::test
