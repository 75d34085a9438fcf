#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "platform/consistency/holds.h"
#include "platform/consistency/run_state.h"
#include "platform/machine/netlist_backend.h"
#include "platform/machine/system.h"
#include "rtl_models/sim/jitter.h"

namespace warpline::litmus {

/// GPUs that run litmus tests, one run after the other on the same hardware: between runs it restarts, so
/// that a run depends on its test and seed only.
///
/// The seed of a run decides where its memories and CTAs lie, which caches hold what from before, when each
/// thread begins, which warps make noise beside them, and how long messages lie in each queue.
class Machine {
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
  /// Runs the test. False: it did not end, because it stood still or would go on for more than `most` cycles.
  /// Pre: loaded.
  bool run(std::uint64_t seed, Cycle most = kMostCycles);
  /// Cycles that the last run took.
  [[nodiscard]] Cycle cycles() const { return cycles_; }
  /// Of the last run: whether its holds held anything, and whether one had to give way because nothing else
  /// was left to happen.
  [[nodiscard]] bool held() const { return holds_.held(); }
  [[nodiscard]] bool gave_way() const { return gave_way_; }
  /// Of the first run since load() that did not end: who waited for what.
  [[nodiscard]] const Standstill& standstill() const { return standstill_; }
  /// What a term of the condition was at the end of the last run. Pre: that ended.
  [[nodiscard]] std::int64_t value(const Term& term);
  /// Component visits so far: the cost of the runs.
  [[nodiscard]] std::uint64_t ticks() const { return backend_->engine().ticks(); }

  /// Cycles after which a run counts as one that never ends. Others take a few thousand, with slow queues.
  static constexpr Cycle kMostCycles = 100'000;

 private:
  void prepare(std::uint64_t seed);
  void warm(Random& random);
  template <class Drawn>
  void warm(unsigned gpu, Netlist::SmCluster& c, Drawn&& drawn);
  [[nodiscard]] Request fill_of(unsigned memory);
  void end_warps();
  [[nodiscard]] unsigned resident(const Program& program) const;
  [[nodiscard]] std::uint8_t* bytes_of(unsigned memory);
  [[nodiscard]] Cycle next_start() const;

  GpuConfig config_;
  bool takes_holds_;
  std::shared_ptr<NetlistBackend> backend_;
  std::deque<MemoryImage> vidmem_;  ///< by GPU
  MemoryImage sysmem_;
  MemoryDevice peer_;
  AddressSpace space_;
  ImageTable images_;
  std::unique_ptr<System> system_;
  std::unique_ptr<Jitter> jitter_;
  Cycle cycles_ = 0;
  bool has_standstill_ = false;
  Standstill standstill_;
  Cycle period_ = 1;  ///< in which the edges of all clocks repeat
  const Test* test_ = nullptr;
  Program program_;
  RunState run_;
  Holds holds_;
  bool gave_way_ = false;
};

}  // namespace warpline::litmus
