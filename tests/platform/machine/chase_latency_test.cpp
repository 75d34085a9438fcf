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

/// Footprints around the capacity of L1, which a kernel shares with shared memory (RRZE-HPC/gpu-benches,
/// gpu-latency: their kB are 1024 bytes).
TEST(PublishedChase, OfFootprintsAroundTheCapacityOfL1AreMet) {
  struct Near {
    const char* gpu;
    double kib, published, tolerance;
  };
  for (const Near& row :
       {Near{"v100", 120.8, 28.6, 0.05}, Near{"v100", 177.4, 212.1, 0.05}, Near{"a100", 146.2, 33.8, 0.05},
        Near{"a100", 177.4, 126.1, 0.15}, Near{"a100", 214.8, 197.8, 0.1}, Near{"h100", 216, 34.8, 0.1}}) {
    GpuConfig config = preset(row.gpu);
    config.sms = 1;
    config.gpcs = 1;
    const auto footprint = static_cast<std::uint64_t>(row.kib * 8) * 128;
    const double cycles = cycles_per_load(config, footprint, 4 * footprint / 128);
    std::printf("%s %.1f KiB: %.1f cycles, published %.1f\n", row.gpu, row.kib, cycles, row.published);
    EXPECT_NEAR(cycles, row.published, row.tolerance * row.published) << row.gpu << ' ' << row.kib;
  }
}

/// Cycles of an SM per warp load of words `stride` words apart, all of them in L1.
double cycles_per_strided_load(const std::string& gpu, unsigned stride) {
  GpuConfig config = preset(gpu);
  config.sms = 1;
  config.gpcs = 1;
  GeneratorRun run(config);
  GeneratorParameters p;
  p.kind = "strided";
  p.stride = std::uint64_t{4} * stride;
  p.footprint = p.stride * kWarpLanes * 8;
  p.block = {1024, 1, 1};
  p.accesses = 32 * 40;
  run.launch(p, true);
  const Cycle once = run.launch(p, false).cycles;
  p.accesses = 32 * 80;
  const Cycle twice = run.launch(p, false).cycles;
  EXPECT_TRUE(run.platform().unreconciled().empty());
  return static_cast<double>(twice - once) / (32 * 40);
}

TEST(PublishedStrides, OfLoadsThatHitL1AreMet) {
  // RRZE-HPC/gpu-benches, gpu-strides, A100 and A40.
  const std::map<unsigned, double> published = {{1, 1.02}, {2, 2.0},  {3, 2.0},  {4, 4.0},  {5, 2.2},
                                                {6, 2.36}, {7, 2.67}, {9, 3.03}, {12, 4.0}, {15, 4.45},
                                                {16, 16},  {32, 32},  {33, 8.8}};
  for (const auto& [stride, cycles] : published) {
    const double ours = cycles_per_strided_load("a100", stride);
    std::printf("stride %u: %.2f cycles, published %.2f\n", stride, ours, cycles);
    EXPECT_NEAR(ours, cycles, 0.16 * cycles) << "stride " << stride;
  }
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
