#include "platform/consistency/record/grid_recorder.h"

#include <algorithm>

#include "platform/machine/gpu_memories.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/system.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {

GridRecorder::GridRecorder(GpuPlatform& platform, std::size_t most,
                           std::function<void(const ExecutionRecord&)> taken)
    : platform_(platform),
      taken_(std::move(taken)),
      recorder_(most, [this](PhysicalAddress at, std::uint8_t* to, unsigned count) {
        const MemoryImage& memory = platform_.memory().image(aperture_of(at), gpu_);
        const std::uint64_t offset = offset_in_aperture(at);
        WARPLINE_EXPECT(offset + count <= memory.size(), "what is mapped is there");
        std::copy_n(memory.at(offset), count, to);
      }) {
  WARPLINE_EXPECT(platform.has_data(), "without data there is nothing to record");
}

std::uint64_t GridRecorder::fault_count() const {
  std::uint64_t out = 0;
  System& system = platform_.system();
  for (unsigned gpu = 0; gpu < system.gpus(); ++gpu)
    for (Netlist::SmCluster& c : system.gpu(gpu).clusters())
      out += c.sm->lsu_counters().faults + c.sm->counters().program_faults;
  return out;
}

void GridRecorder::grids_start(const std::vector<GridLaunch>& grids) {
  faults_before_ = fault_count();
  gpu_ = grids.front().gpu;
  recorder_.begin(grids.front().kernel->info(), platform_.memory().space(gpu_));
  Netlist& netlist = platform_.system().gpu(gpu_);
  for (unsigned n = 0; !netlist.lacks_slices() && n < netlist.config().l2.slices; ++n)
    netlist.slice(n).observe(&recorder_);
  for (Netlist::SmCluster& c : netlist.clusters()) c.sm->observe_shared(&recorder_);
}

std::unique_ptr<InstructionSource> GridRecorder::watched(std::unique_ptr<InstructionSource> source,
                                                         unsigned /*gpu*/, unsigned sm, unsigned slots) {
  return recorder_.watch(std::move(source), sm, slots);
}

void GridRecorder::grids_ended(const std::vector<GridRun>& runs, RunOutcome outcome) {
  std::string broken;
  if (outcome != RunOutcome::quiescent) broken = "the grid did not end";
  if (fault_count() != faults_before_) broken = "threads ended with faults";
  if (platform_.system().gpu(gpu_).lacks_slices()) broken = "the L2 slices are somebody else's";
  if (runs.size() != 1) broken = "grids ran on several GPUs at the same time";
  ExecutionRecord record = recorder_.end(broken);
  const GpuMemories& memory = platform_.memory();
  for (const Mapping& m : memory.space(gpu_).mappings())
    if (m.region != 0 && m.region <= memory.buffers().size())
      record.buffers.push_back({m.base, m.bytes, memory.buffers()[m.region - 1]});
  taken_(record);
}

}  // namespace warpline
