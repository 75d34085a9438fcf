#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "warpline/gpu/launch_runner.h"

namespace warpline::testing {

/// What a run of a launch file left.
struct KernelRun {
  RunEnd end;
  std::vector<Cycle> cycles;      ///< of each grid
  CounterTable::Values counters;  ///< of all grids
  std::vector<std::string> unreconciled;
};

/// Runs sw/kernels/NAME.toml in this process. Throws what is wrong with it.
inline KernelRun run_kernel(const std::string& name, const GpuConfig& config, RunOptions options,
                            const FastForward& to = {}) {
  auto plan = plan_run({std::string(WARPLINE_SOURCE_DIR "/sw/kernels/") + name + ".toml"}, false);
  if (!plan.ok()) throw std::runtime_error(plan.faults().front().text());
  options.max_cycles = 100'000'000;
  GpuPlatform gpu(config, options);
  LaunchRunner runner(plan.value(), gpu, false);
  runner.fast_forward(to);
  if (const Diagnostics faults = runner.prepare(); !faults.empty())
    throw std::runtime_error(faults.front().text());
  CounterTable table;
  std::vector<LaunchStatistics> launches;
  KernelRun run;
  run.end = runner.run(table, launches);
  for (const LaunchStatistics& l : launches) run.cycles.push_back(l.cycles);
  run.counters = table.read([&gpu](CounterVisitor& v) { gpu.visit(v); });
  run.unreconciled = gpu.unreconciled();
  return run;
}

/// The same; `driver`: null for plain C++.
inline KernelRun run_kernel(const std::string& name, const GpuConfig& config,
                            std::shared_ptr<NetlistDriver> driver, bool loose = false,
                            const FastForward& to = {}) {
  RunOptions options;
  options.driver = std::move(driver);
  options.loose = loose;
  return run_kernel(name, config, options, to);
}

}  // namespace warpline::testing
