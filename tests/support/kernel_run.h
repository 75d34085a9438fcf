#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/launch/fast_forward.h"
#include "platform/launch/launch_runner.h"
#include "platform/machine/netlist_backend.h"

namespace warpline::test {

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
  auto plan = read_workload({std::string(WARPLINE_SOURCE_DIR "/sw/kernels/") + name + ".toml"}, false);
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

/// The same; `backend`: null for plain C++.
inline KernelRun run_kernel(const std::string& name, const GpuConfig& config,
                            std::shared_ptr<NetlistBackend> backend, bool loose = false,
                            const FastForward& to = {}) {
  RunOptions options;
  options.backend = std::move(backend);
  options.loose = loose;
  return run_kernel(name, config, options, to);
}

}  // namespace warpline::test
