#pragma once

#include <string>
#include <vector>

#include "platform/consistency/judge.h"
#include "platform/machine/gpu_platform.h"
#include "platform/report/run_statistics.h"

namespace warpline {

/// What is wrong with the grids of a run.
struct ConsistencyFindings {
  std::vector<std::string> violations;  ///< a sentence on each grid that did what the memory model forbids
  std::vector<std::string> unjudged;    ///< and on each that could not be judged
  bool stopped = false;                 ///< a signal ended the judging of one
  std::string unwritten;                ///< why there is no graph; empty: there is, or none is wanted
};

/// What `warpline run --check-consistency` says: every grid is judged as it ends.
class ConsistencyReport {
 public:
  /// `dot`: where the graph of the first violation goes, or empty. `ptx75`: see litmus::JudgeOptions.
  ConsistencyReport(std::string dot, bool ptx75) : dot_(std::move(dot)), ptx75_(ptx75) {}

  /// Has the platform record, for this to judge. The platform must not run after this is gone.
  void follow(GpuPlatform& platform);
  /// Notes each verdict with its launch, and prints those that are good unless `quiet`.
  void print(std::vector<LaunchStatistics>& launches, bool quiet) const;
  /// Draws the first violation, if that is wanted, and returns what is wrong.
  [[nodiscard]] ConsistencyFindings findings() const;

 private:
  std::string dot_;
  bool ptx75_;
  std::vector<litmus::Judgement> judgements_;  ///< by grid, in the order of launches
};

}  // namespace warpline
