#include "whole_gpu.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "warpline/platform/config/load_gpu.h"
#include "warpline/platform/programs/ptx/module.h"
#include "warpline/platform/report/run_statistics.h"
#include "warpline/rtl_models/sm/kernel.h"

namespace {

/// The value, or an exception that has all faults.
template <class T>
T& need(warpline::Result<T>& result) {
  if (result.ok()) return result.value();
  std::string text;
  for (const warpline::Diagnostic& fault : result.faults()) text += fault.text() + "\n";
  throw std::invalid_argument(text);
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::invalid_argument(path + ": cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

WholeGpu::WholeGpu(const sc_core::sc_module_name& name, const Parameters& parameters,
                   std::function<void(WholeGpu&)> script)
    : sc_module(name), script_(std::move(script)) {
  auto config = warpline::load_gpu(parameters.preset, parameters.settings);
  auto plan = warpline::read_workload({parameters.launch_file}, false);
  auto module = warpline::ptx::parse(contents(parameters.ptx), parameters.ptx);
  const warpline::GpuConfig& gpu = need(config);
  plan_ = std::move(need(plan));
  module_ = std::move(need(module));
  backend_ = std::make_shared<warpline::SystemCBackend>(gpu.clocks, warpline::HopTransport::direct,
                                                        warpline::TickMode::lazy, 1,
                                                        std::vector<std::string>{}, "gpu");
  if (parameters.outfit) parameters.outfit(*backend_);
  warpline::RunOptions options;
  options.backend = backend_;
  platform_.emplace(gpu, options);
  runner_.emplace(plan_, *platform_, false);
  warpline::Result<int> prepared(0);
  if (warpline::Diagnostics faults = runner_->prepare(); !faults.empty()) prepared = std::move(faults);
  need(prepared);
  platform_->build();  // before time passes in the simulation
  SC_HAS_PROCESS(WholeGpu);
  SC_THREAD(run);
}

WholeGpu::Outcome WholeGpu::run_launch_file() {
  warpline::CounterTable table;
  std::vector<warpline::LaunchStatistics> launches;
  const warpline::Cycle begun = platform_->now();
  const warpline::RunEnd end = runner_->run(table, launches);
  const bool good = end.outcome == warpline::RunOutcome::quiescent && end.failures.empty() &&
                    end.input_faults.empty() && platform_->faults().empty() &&
                    platform_->unreconciled().empty();
  return outcome(platform_->now() - begun, end.checks, good ? end.failed_checks : end.checks);
}

WholeGpu::Outcome WholeGpu::vecadd() {
  constexpr std::uint32_t kElements = 4096;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  std::vector<float> a(kElements), b(kElements), sums(kElements);
  for (std::uint32_t i = 0; i < kElements; ++i) {
    a[i] = static_cast<float>(i) * 0.5F;
    b[i] = static_cast<float>(i % 31);
  }
  const std::uint64_t at_a = platform_->allocate("first", kBytes),
                      at_b = platform_->allocate("second", kBytes), at_c = platform_->allocate("sum", kBytes);
  platform_->write(at_a, a.data(), kBytes);
  platform_->write(at_b, b.data(), kBytes);
  // As the kernel's signature says: three pointers and a count.
  std::vector<std::uint8_t> parameters(28);
  std::memcpy(&parameters[0], &at_a, 8);
  std::memcpy(&parameters[8], &at_b, 8);
  std::memcpy(&parameters[16], &at_c, 8);
  std::memcpy(&parameters[24], &kElements, 4);
  const auto kernel = module_->make_kernel("vecadd", {16, 1, 1}, {256, 1, 1}, 0, parameters);
  const warpline::LaunchResult launch = platform_->launch(*kernel);
  platform_->read(at_c, sums.data(), kBytes);
  std::size_t wrong = launch.outcome == warpline::RunOutcome::quiescent ? 0 : kElements;
  for (std::uint32_t i = 0; i < kElements; ++i) wrong += sums[i] != a[i] + b[i];
  return outcome(launch.cycles, kElements, wrong);
}

WholeGpu::Outcome WholeGpu::outcome(warpline::Cycle cycles, std::size_t results, std::size_t wrong) const {
  Outcome o{cycles, {}, results, wrong};
  warpline::CounterTable table;
  const warpline::CounterTable::Values values =
      table.read([&](warpline::CounterVisitor& visitor) { platform_->visit(visitor); });
  for (std::size_t i = 0; i < values.size(); ++i) o.counters[table.entries()[i].path] = values[i];
  return o;
}
