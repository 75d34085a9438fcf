#pragma once

#include <functional>

#include "platform/consistency/record/execution_recorder.h"
#include "platform/machine/attachment.h"

namespace warpline {

class GpuPlatform;

/// Records what the threads of each grid of a platform do to memory, and hands the record on at the end of
/// the grid: litmus::judge() says whether the memory model allows it. Grids are recorded that run alone.
class GridRecorder final : public Attachment {
 public:
  /// `most`: accesses, fences and barriers of one grid; the record of a grid that has more says so and is
  /// empty. Pre: the platform, to which this is attached then, has data.
  GridRecorder(GpuPlatform& platform, std::size_t most, std::function<void(const ExecutionRecord&)> taken);

  void grids_start(const std::vector<GridLaunch>& grids) override;
  [[nodiscard]] std::unique_ptr<InstructionSource> watched(std::unique_ptr<InstructionSource> source,
                                                           unsigned gpu, unsigned sm,
                                                           unsigned slots) override;
  void grids_ended(const std::vector<GridRun>& runs, RunOutcome outcome) override;

 private:
  [[nodiscard]] std::uint64_t fault_count() const;

  GpuPlatform& platform_;
  std::function<void(const ExecutionRecord&)> taken_;
  unsigned gpu_ = 0;                 ///< that runs the grid
  std::uint64_t faults_before_ = 0;  ///< that grid
  ExecutionRecorder recorder_;
};

}  // namespace warpline
