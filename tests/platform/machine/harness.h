#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/netlist_backend.h"
#include "platform/programs/generators/generator.h"
#include "rtl_models/base/counter.h"

namespace warpline::test {

/// Every counter by "block.name".
class AllCounters final : public CounterVisitor {
 public:
  explicit AllCounters(const GpuPlatform& platform) { platform.visit(*this); }
  void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    values_[std::string(block) + "." + std::string(name)] = value;
  }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& values() const { return values_; }
  /// Sum over all blocks whose path, indices removed, ends in `path`.
  [[nodiscard]] std::uint64_t total(const std::string& path) const {
    std::uint64_t sum = 0;
    for (const auto& [key, value] : values_) {
      std::string plain;
      bool inside = false;
      for (const char c : key) {
        inside = inside || c == '[';
        if (!inside) plain += c;
        if (c == ']') inside = false;
      }
      if (plain == path ||
          (plain.size() > path.size() && plain.compare(plain.size() - path.size() - 1, 1, ".") == 0 &&
           plain.compare(plain.size() - path.size(), path.size(), path) == 0))
        sum += value;
    }
    return sum;
  }

 private:
  std::map<std::string, std::uint64_t> values_;
};

inline GpuConfig preset(const std::string& name, const std::vector<std::string>& overrides = {}) {
  Result<GpuConfig> r = load_gpu(name, overrides);
  if (!r.ok()) throw std::runtime_error(r.faults().front().text());
  return r.value();
}

/// A platform without data that runs generators. `backend`: null for plain C++ in this tick mode.
class GeneratorRun {
 public:
  explicit GeneratorRun(const GpuConfig& config, TickMode mode = TickMode::lazy, std::uint64_t seed = 1,
                        std::shared_ptr<NetlistBackend> backend = nullptr)
      : platform_(config, options(mode, seed, std::move(backend))) {
    platform_.map_everything();
  }
  LaunchResult launch(GeneratorParameters p, bool invalidate = true) {
    p.base = 0x7F0000000000ULL;
    const std::unique_ptr<Kernel> kernel = make_generator(p);
    return platform_.launch(*kernel, invalidate);
  }
  GpuPlatform& platform() { return platform_; }

 private:
  static RunOptions options(TickMode mode, std::uint64_t seed, std::shared_ptr<NetlistBackend> backend) {
    RunOptions o;
    o.backend = std::move(backend);
    o.tags_only = true;
    o.tick_mode = mode;
    o.seed = seed;
    o.max_cycles = 400'000'000;
    return o;
  }
  GpuPlatform platform_;
};

}  // namespace warpline::test
