#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/wls/module.h"
#include "platform/report/inspection_report.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::test {

/// All counters.
class Observed final : public CounterVisitor {
 public:
  void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    values[std::string(block) + "." + std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> values;
};

/// A `.wls` text on a platform of its own.
class WlsRun {
 public:
  explicit WlsRun(const std::string& text, const GpuConfig& config = load_gpu("mini", {}).value(),
                  const RunOptions& options = limited())
      : platform_(config, options), module_(parsed(text, direct_)) {
    std::uint64_t constant = ConstantBanks::address(ConstantBanks::kModuleBank, 0);
    for (const programs::Variable& v : module_->variables()) {
      const bool is_constant = v.space == Space::constant;
      const std::uint64_t at = is_constant ? constant : platform_.allocate_below_4g(v.initial.size());
      if (is_constant) constant += v.initial.size();
      module_->place(v.name, addresses_[v.name] = at);
      if (is_constant)
        platform_.write_constant(at, v.initial.data(), v.initial.size());
      else
        platform_.write(at, v.initial.data(), v.initial.size());
    }
  }
  [[nodiscard]] static RunOptions limited() {
    RunOptions o;
    o.max_cycles = 20'000'000;
    return o;
  }
  /// One launch, as the text says.
  LaunchResult run(const std::vector<std::uint8_t>& parameters = {}, bool invalidate = true) {
    kernel_ =
        module_->make_kernel(module_->entries().front().name, direct_.grid, direct_.block, 0, parameters);
    const std::vector<std::string> refusals = platform_.refusals(kernel_->info());
    if (!refusals.empty()) throw std::runtime_error(refusals.front());
    return platform_.launch(*kernel_, invalidate);
  }
  [[nodiscard]] std::vector<std::uint32_t> words(const std::string& name) const {
    for (const programs::Variable& v : module_->variables()) {
      if (v.name != name) continue;
      std::vector<std::uint32_t> out(v.initial.size() / 4);
      platform_.read(addresses_.at(name), out.data(), v.initial.size());
      return out;
    }
    throw std::runtime_error("no variable " + name);
  }
  /// Of the first CTA.
  [[nodiscard]] std::uint32_t reg(unsigned r, unsigned thread = 0) const {
    return module_->inspection()->value(r, thread);
  }
  [[nodiscard]] InspectionReport report() const { return inspect(*module_, addresses_, platform_); }
  [[nodiscard]] std::vector<FaultRecord> faults() const { return platform_.faults(); }
  [[nodiscard]] GpuPlatform& platform() { return platform_; }

 private:
  static std::unique_ptr<programs::Module> parsed(const std::string& text, wls::DirectLaunch& direct) {
    auto module = wls::parse(text, "test.wls");
    if (!module.ok()) throw std::runtime_error(module.faults().front().text());
    direct = module.value().direct;
    return std::move(module.value().module);
  }
  GpuPlatform platform_;
  wls::DirectLaunch direct_;
  std::unique_ptr<programs::Module> module_;
  std::unique_ptr<Kernel> kernel_;
  std::map<std::string, std::uint64_t> addresses_;
};

/// Runs `text` to its end, without faults, and returns it.
inline std::unique_ptr<WlsRun> ran(const std::string& text) {
  auto run = std::make_unique<WlsRun>(text);
  const LaunchResult result = run->run();
  if (result.outcome != RunOutcome::quiescent) throw std::runtime_error("the program did not end");
  for (const FaultRecord& f : run->faults()) throw std::runtime_error(f.kind + " at " + f.where);
  return run;
}

}  // namespace warpline::test
