#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "warpline/platform/launch/launch_runner.h"
#include "warpline/platform/machine/gpu_platform.h"
#include "warpline/platform/programs/module.h"
#include "warpline/platform/systemc/systemc_backend.h"

/// A whole GPU of a preset, and a thread that launches kernels on it while the rest of the simulation goes
/// on.
class WholeGpu final : public sc_core::sc_module {
 public:
  struct Parameters {
    std::string preset;
    std::vector<std::string> settings;
    std::string launch_file;
    std::string ptx;  ///< the file of vecadd()
    /// Tells the backend whose modules stand in this GPU.
    std::function<void(warpline::SystemCBackend&)> outfit;
  };
  /// What a launch took and came to.
  struct Outcome {
    warpline::Cycle cycles = 0;
    std::map<std::string, std::uint64_t> counters;  ///< of all blocks, since the GPU was made
    std::size_t results = 0, wrong = 0;
  };
  /// Makes the GPU, and fills its memory as the launch file says. `script` is what its thread does. Throws
  /// std::invalid_argument with every fault of the parameters.
  WholeGpu(const sc_core::sc_module_name& name, const Parameters& parameters,
           std::function<void(WholeGpu&)> script);

  // For the script: simulated time passes in these.
  /// Runs the launch file, once.
  Outcome run_launch_file();
  /// Adds two vectors by a kernel, in buffers of its own.
  Outcome vecadd();

  [[nodiscard]] warpline::GpuPlatform& platform() { return *platform_; }

 private:
  void run() { script_(*this); }
  [[nodiscard]] Outcome outcome(warpline::Cycle cycles, std::size_t results, std::size_t wrong) const;

  std::function<void(WholeGpu&)> script_;
  std::shared_ptr<warpline::SystemCBackend> backend_;
  std::optional<warpline::GpuPlatform> platform_;
  warpline::Workload plan_;
  std::optional<warpline::LaunchRunner> runner_;
  std::unique_ptr<warpline::programs::Module> module_;
};
