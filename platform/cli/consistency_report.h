#pragma once

#include <string>
#include <vector>

#include "platform/consistency/judge.h"
#include "platform/machine/gpu_platform.h"
#include "platform/report/run_statistics.h"

namespace warpline {

/// What `warpline run --check-consistency` says: every grid is judged as it ends.
class ConsistencyReport {
 public:
  /// `dot`: where the graph of the first violation goes, or empty.
  explicit ConsistencyReport(std::string dot) : dot_(std::move(dot)) {}

  /// Has the platform record, for this to judge. The platform must not run after this is gone.
  void follow(GpuPlatform& platform);
  /// Notes each verdict with its launch, and prints those that are good unless `quiet`.
  void print(std::vector<LaunchStatistics>& launches, bool quiet) const;
  /// Prints what is wrong, draws it, and returns the exit status that it asks for.
  [[nodiscard]] int judge() const;

 private:
  std::string dot_;
  std::vector<litmus::Judgement> judgements_;  ///< by grid, in the order of launches
};

}  // namespace warpline
