#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "platform/live/live_question.h"
#include "platform/report/run_statistics.h"

namespace warpline {
class GpuPlatform;
}

namespace warpline::live {

/// Answers questions about what a platform holds: counters, queues, waits, lines. It looks, and changes
/// nothing. Pre of all: the platform is between launches, or in the callback of on_progress(); it is built.
class PlatformAnswers {
 public:
  explicit PlatformAnswers(GpuPlatform& platform) : platform_(platform) {}

  /// Pre: the kind is one of `counters`, `queues`, `waits`, `line` and `memory`.
  [[nodiscard]] Answer answer(const Question& question);
  /// CTAs of the grids that run on these GPUs.
  struct Ctas {
    std::uint64_t done = 0, total = 0;
  };
  [[nodiscard]] Ctas ctas(const std::vector<unsigned>& gpus) const;
  /// Warp instructions issued so far.
  [[nodiscard]] std::uint64_t instructions() const;

 private:
  struct Reading {
    Cycle cycle = 0;
    CounterTable::Values values;
  };
  [[nodiscard]] Answer counters(const Question& question);
  [[nodiscard]] Answer queues(const Question& question) const;
  [[nodiscard]] Answer waits(const Question& question) const;
  [[nodiscard]] Answer line(const Question& question) const;
  [[nodiscard]] Answer memory(const Question& question) const;

  GpuPlatform& platform_;
  CounterTable table_;
  std::deque<Reading> readings_;  ///< the last ones, oldest first
};

}  // namespace warpline::live
