// The platform's part in recording a grid: what is told to whom, and when a record is of no use.
#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/gpu/gpu_platform_state.h"

namespace warpline {

void GpuPlatform::record(std::size_t most, std::function<void(const ExecutionRecord&)> taken) {
  State& s = *state_;
  WARPLINE_EXPECT(!s.options.tags_only, "without data there is nothing to record");
  s.on_record = std::move(taken);
  s.recorder =
      std::make_unique<ExecutionRecorder>(most, [&s](PhysicalAddress at, std::uint8_t* to, unsigned count) {
        const MemoryImage* memory = nullptr;
        switch (aperture_of(at)) {
          case Aperture::vidmem: memory = &s.memory.vidmem(s.recorded_gpu); break;
          case Aperture::sysmem: memory = &s.memory.sysmem(); break;
          case Aperture::peer: memory = &s.memory.peer()->image(); break;
        }
        const std::uint64_t offset = offset_in_aperture(at);
        WARPLINE_EXPECT(offset + count <= memory->size(), "what is mapped is there");
        std::copy_n(memory->at(offset), count, to);
      });
}

std::uint64_t GpuPlatform::State::fault_count() const {
  std::uint64_t out = 0;
  for (unsigned gpu = 0; gpu < config.gpus; ++gpu)
    for (Netlist::SmCluster& c : system->gpu(gpu).clusters())
      out += c.sm->lsu_counters().faults + c.sm->counters().program_faults;
  return out;
}

void GpuPlatform::State::begin_record(const std::vector<GridLaunch>& grids) {
  faults_before = fault_count();
  recorded_gpu = grids.front().gpu;
  recorder->begin(grids.front().kernel->info(), memory.space(recorded_gpu));
  Netlist& netlist = system->gpu(recorded_gpu);
  for (unsigned n = 0; !netlist.lacks_slices() && n < config.l2.slices; ++n)
    netlist.slice(n).observe(recorder.get());
}

void GpuPlatform::State::end_record(const std::vector<GridLaunch>& grids, RunOutcome outcome) {
  std::string broken;
  if (outcome != RunOutcome::quiescent) broken = "the grid did not end";
  if (fault_count() != faults_before) broken = "threads ended with faults";
  if (system->gpu(recorded_gpu).lacks_slices()) broken = "the L2 slices are somebody else's";
  if (grids.size() != 1) broken = "grids ran on several GPUs at the same time";
  ExecutionRecord record = recorder->end(broken);
  const std::vector<std::string>& names = memory.buffers();
  for (const Mapping& m : memory.space(recorded_gpu).mappings())
    if (m.region != 0 && m.region <= names.size())
      record.buffers.push_back({m.base, m.bytes, names[m.region - 1]});
  on_record(record);
}

}  // namespace warpline
