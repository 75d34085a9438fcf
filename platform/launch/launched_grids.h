#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "platform/launch/device_memory.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/module.h"

namespace warpline {

/// Runs the grids that kernels have launched. A grid is complete when those are that it has launched, so they
/// run one after the other behind it; those of the tail stream last.
class LaunchedGrids {
 public:
  /// Called after each of them with nothing, and with why one cannot run. `faults`: that is a fault of the
  /// program that launched it.
  using Told = std::function<void(const std::string& why, bool faults)>;
  /// Keeps all. `grids_made`: how many grids there were before; it goes on counting. `last`: gets the last
  /// kernel, whose program SMs keep until the next one starts. `attributes`: what all of them have, but
  /// numbers.
  LaunchedGrids(GpuPlatform& platform, DeviceMemory& memory, std::uint64_t& grids_made,
                std::unique_ptr<Kernel>& last, Told told, const LaunchAttributes& attributes = {})
      : platform_(platform),
        memory_(memory),
        grids_made_(grids_made),
        last_(last),
        told_(std::move(told)),
        attributes_(attributes) {}
  /// Those that a grid of `module` launched. Their cycles are added to its `result`, which becomes that of
  /// the first one that does not come to rest.
  void run(unsigned gpu, programs::Module& module, LaunchResult& result) { run(gpu, module, 1, result); }

 private:
  /// `depth`: grids that have led to these, one launching the next.
  void run(unsigned gpu, programs::Module& module, std::uint32_t depth, LaunchResult& result);
  /// Does a copy or fill, which takes no time, or says why it cannot. What it has done until then stays.
  std::string copy(const DeviceLaunch& launch, unsigned gpu);
  /// Null where it cannot run, and why.
  std::unique_ptr<Kernel> kernel_of(programs::Module& module, const DeviceLaunch& launch, unsigned gpu,
                                    std::string& why);

  GpuPlatform& platform_;
  DeviceMemory& memory_;
  std::uint64_t& grids_made_;
  std::unique_ptr<Kernel>& last_;
  Told told_;
  LaunchAttributes attributes_;
};

}  // namespace warpline
