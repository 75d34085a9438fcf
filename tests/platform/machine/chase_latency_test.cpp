#include <gtest/gtest.h>

#include "tests/platform/machine/harness.h"

namespace warpline::test {
namespace chase_latency_test {

/// SM cycles per load of a chase, once the caches are warm: the second of two equal launches.
double cycles_per_load(const GpuConfig& config, std::uint64_t footprint, std::uint64_t loads) {
  GeneratorRun run(config);
  GeneratorParameters p;
  p.kind = "chase";
  p.footprint = footprint;
  p.stride = 128;
  p.accesses = loads;
  p.block = {32, 1, 1};
  run.launch(p, true);
  const Cycle once = run.launch(p, false).cycles;
  p.accesses = 2 * loads;
  const Cycle twice = run.launch(p, false).cycles;
  EXPECT_TRUE(run.platform().unreconciled().empty());
  // Launches count cycles of the fastest clock.
  return static_cast<double>(twice - once) / static_cast<double>(loads) * config.clocks.sm /
         config.clocks.fastest();
}

struct Row {
  const char* gpu;
  std::uint64_t kilobytes;
  double published;  ///< cycles; RRZE-HPC/gpu-benches, gpu-latency
};

class PublishedChase : public testing::TestWithParam<Row> {};

TEST_P(PublishedChase, IsMetWithinTenPercent) {
  const Row& row = GetParam();
  const std::uint64_t footprint = row.kilobytes * 1000 / 128 * 128;
  // One round of a cached footprint; of one that no cache holds, a part is as good.
  const std::uint64_t loads = std::min<std::uint64_t>(footprint / 128, 40'000);
  const double cycles = cycles_per_load(preset(row.gpu), footprint, loads);
  RecordProperty("cycles", std::to_string(cycles));
  std::printf("%s %llu kB: %.1f cycles, published %.1f\n", row.gpu,
              static_cast<unsigned long long>(row.kilobytes), cycles, row.published);
  EXPECT_NEAR(cycles, row.published, 0.1 * row.published);
}

INSTANTIATE_TEST_SUITE_P(Presets, PublishedChase,
                         testing::Values(Row{"v100", 16, 28.0}, Row{"v100", 2053, 212.1},
                                         Row{"v100", 99570, 431.4}, Row{"a100", 16, 33.1},
                                         Row{"a100", 2053, 205.5}, Row{"a100", 136996, 550.2}),
                         [](const auto& row) {
                           return std::string(row.param.gpu) + "_" + std::to_string(row.param.kilobytes) +
                                  "kB";
                         });

}  // namespace chase_latency_test
}  // namespace warpline::test
