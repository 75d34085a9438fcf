#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/consistency/test.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {
class NetlistBackend;
}

namespace warpline::litmus {

/// GPUs that run litmus tests, one run after the other on the same hardware: between runs it restarts, so
/// that a run depends on its test and seed only.
///
/// The seed of a run decides where its memories and CTAs lie, which caches hold what from before, when each
/// thread begins, which warps make noise beside them, and how long messages lie in each queue.
class WARPLINE_PUBLIC Machine {
 public:
  /// Port to port, in plain C++, unless `backend` makes other hops. `loose`: requests are loosely timed.
  explicit Machine(const GpuConfig& config, std::shared_ptr<NetlistBackend> backend = nullptr,
                   bool loose = false);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Why it cannot run `test`, a sentence each.
  [[nodiscard]] std::vector<std::string> refusals(const Test& test) const;
  /// Runs are of `test` from now on, which outlives them. Pre: refusals(test) is empty.
  void load(const Test& test);
  /// Runs the test. False: it did not end, because it stood still, would go on for more than `most` cycles,
  /// or did what no program may: see fault(). Pre: loaded.
  bool run(std::uint64_t seed, Cycle most = kMostCycles);
  /// Cycles that the last run took.
  [[nodiscard]] Cycle cycles() const;
  /// Of the last run: whether its holds held anything, and whether one had to give way because nothing else
  /// was left to happen.
  [[nodiscard]] bool held() const;
  [[nodiscard]] bool gave_way() const;
  /// Of the first run since load() that did not end: who waited for what.
  [[nodiscard]] const Standstill& standstill() const;
  /// Of the last run: what ended one of its threads ("mbarrier count out of range (mbarrier.arrive r0, b)"),
  /// as when more arrive at an mbarrier than its phase lacks; empty: nothing did.
  [[nodiscard]] const std::string& fault() const;
  /// What a term of the condition was at the end of the last run. Pre: that ended.
  [[nodiscard]] std::int64_t value(const Term& term);
  /// Component visits so far: the cost of the runs.
  [[nodiscard]] std::uint64_t ticks() const;

  /// Cycles after which a run counts as one that never ends. Others take a few thousand, with slow queues.
  static constexpr Cycle kMostCycles = 100'000;

 private:
  class WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline::litmus
