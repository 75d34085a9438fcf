#pragma once

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.h"
#include "warpline/programs/ptx/module.h"

namespace warpline::test {

/// Two GPUs of the preset mini, with kernels written as bodies: of 64-bit parameters %a0, %a1 and so on, with
/// registers %r0 to %r9, %d0 to %d3, %h0 to %h3 (16 bits) and %p.
class TwoGpus {
 public:
  explicit TwoGpus(std::vector<Override> overrides = {}, RunOptions options = {})
      : platform_(config(std::move(overrides)), limited(std::move(options))) {}

  static GpuConfig config(std::vector<Override> overrides) {
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
    std::string ptx = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(";
    std::string loads;
    std::vector<std::uint8_t> block(g.parameters.size() * 8);
    for (std::size_t i = 0; i < g.parameters.size(); ++i) {
      const std::string n = std::to_string(i);
      ptx += (i == 0 ? ".param .u64 q" : ", .param .u64 q") + n;
      loads += "ld.param.u64 %a" + n + ", [q" + n + "];\n";
    }
    if (!block.empty()) __builtin_memcpy(block.data(), g.parameters.data(), block.size());
    ptx += ") {\n.reg .u64 %a<8>, %d<4>;\n.reg .u32 %r<10>;\n.reg .u16 %h<4>;\n.reg .pred %p;\n" + loads +
           g.body + "\nret;\n}\n";
    auto module = ptx::parse(ptx, "k.ptx");
    if (!module.ok()) throw std::runtime_error(module.faults().front().text());
    modules_.push_back(std::move(module.value()));
    return modules_.back()->make_kernel("k", {g.ctas, 1, 1}, {g.threads, 1, 1}, 0, block);
  }
  GpuPlatform platform_;
  std::vector<std::unique_ptr<ptx::Module>> modules_;
};

/// A loop that reads the flag at `address` by `load` until it is set.
inline std::string spin(const std::string& load, const std::string& address,
                        const std::string& label = "SPIN") {
  return label + ": " + load + " %r9, [" + address + "];\nsetp.eq.u32 %p, %r9, 0;\n@%p bra " + label + ";\n";
}

}  // namespace warpline::test
