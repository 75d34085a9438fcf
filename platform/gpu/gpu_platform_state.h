#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warpline/fabric/jitter.h"
#include "warpline/gpu/device_memory.h"
#include "warpline/gpu/gpu_platform.h"
#include "warpline/gpu/observe/observation.h"
#include "warpline/gpu/record/execution_recorder.h"
#include "warpline/gpu/system.h"

namespace warpline {

/// What a platform consists of, and what it does before a launch.
struct GpuPlatform::State {
  State(const GpuConfig& c, const RunOptions& o);

  /// What the driver keeps of each GPU.
  struct Gpu {
    Gpu(State& state, unsigned number);
    std::uint32_t local_bytes_laid_out = 0;  ///< per thread, of the last grid
    std::uint64_t local_base = 0;            ///< likewise, in video memory
    CacheRegisters registers;
  };

  GpuConfig config;
  RunOptions options;
  std::shared_ptr<NetlistDriver> driver;
  DeviceMemory memory{config};
  ImageTable images;
  std::unique_ptr<System> system;               ///< made by the first launch
  std::unique_ptr<PcieSystem> pcie;             ///< likewise; null: there is none
  std::unique_ptr<Observation> observation;     ///< of the system; null: none
  std::unique_ptr<ExecutionRecorder> recorder;  ///< null: nothing is recorded
  std::function<void(const ExecutionRecord&)> on_record;
  unsigned recorded_gpu = 0;        ///< that runs the grid that is recorded
  std::uint64_t faults_before = 0;  ///< that grid
  std::deque<Gpu> gpus;
  std::optional<Jitter> jitter;  ///< made by the first launch that wants it
  std::uint64_t launches = 0;    ///< so far
  std::vector<GridLaunch> under_way;
  Cycle started = 0;  ///< those
  Cycle progress_every = kNever;
  std::function<bool(double)> progress;

  /// Local memory that the kernel needs: that of every warp slot of a GPU.
  [[nodiscard]] std::uint64_t local_bytes(const KernelInfo& info) const;
  /// CTAs that an SM holds at once.
  [[nodiscard]] unsigned resident(const KernelInfo& info) const;
  [[nodiscard]] unsigned fastest_mhz() const;
  void set_loose(bool loose);
  void build();
  void invalidate(unsigned gpu, std::uint32_t caches);  ///< bits of CacheRegisters::kInvalidate
  void prepare(const KernelInfo& info, unsigned gpu, bool invalidate_l1);
  /// Hands a kernel to the SMs and the distributor of its GPU.
  void start(const GridLaunch& grid);
  void begin_record(const std::vector<GridLaunch>& grids);
  void end_record(const std::vector<GridLaunch>& grids, RunOutcome outcome);
  /// Faults of all SMs so far.
  [[nodiscard]] std::uint64_t fault_count() const;
  void report_progress(const std::vector<GridLaunch>& grids);
  [[nodiscard]] std::vector<std::string> refusals(const KernelInfo& info, unsigned gpu) const;
  /// Bytes of video memory that the kernel's code would take.
  [[nodiscard]] std::uint64_t code_to_place(const KernelInfo& info, unsigned gpu) const;
  /// Where the kernel's code lies in video memory, if it fits; 0 if it has none.
  [[nodiscard]] std::optional<std::uint64_t> place_code(const KernelInfo& info, unsigned gpu);
};

}  // namespace warpline
