#pragma once

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/platform/machine/body_kernel.h"
#include "tests/platform/machine/harness.h"

namespace warpline::test {

/// Two GPUs of the preset mini, with kernels written as bodies (module_of_body()).
class TwoGpus {
 public:
  explicit TwoGpus(std::vector<std::string> overrides = {}, RunOptions options = {})
      : platform_(config(std::move(overrides)), limited(std::move(options))) {}

  static GpuConfig config(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"gpus=2"});
    return preset("mini", overrides);
  }
  /// A word or more of zeros.
  std::uint64_t zeros(Aperture aperture, unsigned gpu = 0, std::uint64_t bytes = 128) {
    return platform_.allocate("", bytes, aperture, gpu);
  }
  [[nodiscard]] std::uint32_t word(std::uint64_t address) const {
    std::uint32_t value = 0;
    platform_.read(address, &value, sizeof value);
    return value;
  }
  struct Grid {
    std::string body;
    std::vector<std::uint64_t> parameters;
    unsigned ctas = 1, threads = 1;
  };
  /// Runs one grid on each GPU at the same time.
  LaunchResult run(const Grid& first, const Grid& second) {
    const std::unique_ptr<Kernel> a = kernel(first), b = kernel(second);
    const LaunchResult r = platform_.launch({GridLaunch{a.get(), 0, true}, GridLaunch{b.get(), 1, true}});
    if (r.outcome != RunOutcome::quiescent) throw std::runtime_error("the grids do not end");
    if (!platform_.faults().empty()) throw std::runtime_error(platform_.faults().front().kind);
    return r;
  }
  [[nodiscard]] GpuPlatform& platform() { return platform_; }

 private:
  static RunOptions limited(RunOptions o) {
    o.max_cycles = 10'000'000;
    return o;
  }
  std::unique_ptr<Kernel> kernel(const Grid& g) {
    modules_.push_back(module_of_body(g.body, g.parameters.size()));
    return modules_.back()->make_kernel("k", {g.ctas, 1, 1}, {g.threads, 1, 1}, 0, block_of(g.parameters));
  }
  GpuPlatform platform_;
  std::vector<std::unique_ptr<programs::Module>> modules_;
};

/// A loop that reads the flag at `address` by `load` until it is set.
inline std::string spin(const std::string& load, const std::string& address,
                        const std::string& label = "SPIN") {
  return label + ": " + load + " %r9, [" + address + "];\nsetp.eq.u32 %p, %r9, 0;\n@%p bra " + label + ";\n";
}

}  // namespace warpline::test
