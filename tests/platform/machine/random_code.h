#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/machine/netlist_backend.h"
#include "rtl_models/base/random.h"
#include "tests/platform/machine/harness.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {

/// A kernel of random code without data: warps that run, jump, load and invalidate what has been fetched. Two
/// of equal name and size are launches of one kernel, as far as the GPU can tell.
class RandomCode final : public Kernel {
 public:
  RandomCode(Random& random, std::string name, unsigned lines, bool invalidates = true) {
    info_.name = name;
    info_.grid = {static_cast<std::uint32_t>(1 + random.below(6)), 1, 1};
    scripts_.resize(1 + random.below(4));
    info_.block = {static_cast<std::uint32_t>(scripts_.size()) * kWarpLanes, 1, 1};
    info_.registers = 32;
    info_.carries_data = false;
    info_.code_name = std::move(name);
    info_.code_bytes = std::uint64_t{lines} * kLineBytes;
    const std::uint64_t rarity = invalidates ? 10 + random.below(100) : ~std::uint64_t{0};
    for (auto& script : scripts_) {
      std::uint32_t pc = 0;
      for (unsigned i = 0; i < 120; ++i, pc += 16) {
        if (random.below(8) == 0 || pc >= info_.code_bytes)
          pc = static_cast<std::uint32_t>(random.below(info_.code_bytes / 16) * 16);
        script.push_back(test::at(pc, step(random, rarity)));
      }
    }
  }
  [[nodiscard]] const KernelInfo& info() const override { return info_; }
  [[nodiscard]] std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    logs_.push_back(std::make_unique<test::Log>());
    return std::make_unique<test::ScriptSource>(scripts_, *logs_.back(), site.slots);
  }

 private:
  static test::Step step(Random& random, std::uint64_t rarity) {
    if (random.below(rarity) == 0)
      return test::invalidate_instructions(static_cast<std::uint8_t>(1 + random.below(9)));
    if (random.below(6) == 0)
      return test::memory(MemKind::load, Space::global, DataType::u32,
                          test::strided(0x100000 + random.below(64) * kLineBytes, 4), {2});
    return test::alu(static_cast<std::uint8_t>(1 + random.below(9)), {1}, {1});
  }
  KernelInfo info_;
  std::vector<std::vector<test::Step>> scripts_;
  std::vector<std::unique_ptr<test::Log>> logs_;
};

/// What two runs of random code have in common if time is the same.
struct FetchOutcome {
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  friend bool operator==(const FetchOutcome& a, const FetchOutcome& b) {
    return a.cycles == b.cycles && a.counters == b.counters;
  }
};

/// Four grids, two of them of one kernel, drawn from `seed`.
inline FetchOutcome fetch_code(const GpuConfig& config, std::uint64_t seed, TickMode mode = TickMode::lazy,
                               std::shared_ptr<NetlistBackend> backend = nullptr, bool loose = false) {
  RunOptions options;
  options.tags_only = true;
  options.tick_mode = mode;
  options.seed = seed;
  options.backend = std::move(backend);
  options.max_cycles = 400'000'000;
  options.loose = loose;
  GpuPlatform platform(config, options);
  platform.map_everything();
  Random random(seed * 7 + 1);
  FetchOutcome out;
  for (const char* name : {"a", "b", "a", "c"}) {
    RandomCode kernel(random, name, 1 + static_cast<unsigned>(name[0] - 'a') * 9);
    const LaunchResult r = platform.launch(kernel);
    EXPECT_EQ(r.outcome, RunOutcome::quiescent);
    out.cycles.push_back(r.cycles);
    const std::vector<std::string> faults = platform.unreconciled();
    EXPECT_TRUE(faults.empty()) << faults.front() << " seed " << seed;
  }
  out.counters = AllCounters(platform).values();
  return out;
}

}  // namespace warpline::test
