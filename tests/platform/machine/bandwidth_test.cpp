#include <gtest/gtest.h>

#include <cmath>

#include "tests/platform/machine/harness.h"

namespace warpline::test {
namespace bandwidth_test {

/// One SM, one slice, one channel: a one-to-one stream whose narrowest channel is known.
GpuConfig pipe() {
  GpuConfig c = preset("mini");
  c.sms = 1;
  c.l2.slices = 1;
  c.dram.channels = 1;
  c.clocks = {1000, 1000, 1000, 1000};
  c.sm.lsu_entries = 256;
  c.l1_lg.miss_registers = 256;
  c.l1_lg.outgoing = 600;
  c.l2.miss_registers = 256;
  c.l2.geometry = {512, 16};
  const ChannelParameters wide{128, 10, 64, 1};
  c.hops.sm_l1_lg = c.hops.l1_lg_crossbar = c.hops.crossbar_l2 = c.hops.l2_dram = {wide, wide};
  return c;
}

/// Bytes per cycle that a stream over `footprint` bytes reaches on its second sweep.
double bytes_per_cycle(const GpuConfig& config, std::uint64_t footprint) {
  GeneratorRun run(config);
  GeneratorParameters p;
  p.kind = "stream";
  p.footprint = footprint;
  p.accesses = footprint / 128;
  p.block = {512, 1, 1};
  run.launch(p);
  const Cycle cycles = run.launch(p, false).cycles;
  return static_cast<double>(footprint) / static_cast<double>(cycles);
}

TEST(Bandwidth, OfTheNarrowestChannelIsReachedOnEveryHop) {
  const std::uint64_t in_l2 = 512 * 1024;
  for (const unsigned width : {8U, 32U, 64U}) {
    GpuConfig c = pipe();
    c.hops.sm_l1_lg.response.width = width;
    EXPECT_GT(bytes_per_cycle(c, in_l2), 0.9 * width) << "L1 to SM, " << width;
    c = pipe();
    c.hops.l1_lg_crossbar.response.width = width;
    EXPECT_GT(bytes_per_cycle(c, in_l2), 0.9 * width) << "crossbar to L1, " << width;
    c = pipe();
    c.hops.crossbar_l2.response.width = width;
    EXPECT_GT(bytes_per_cycle(c, in_l2), 0.9 * width) << "L2 to crossbar, " << width;
    if (width > 32) continue;  // the DRAM data bus itself moves 32 bytes per cycle
    c = pipe();
    c.dram.sector_cycles = 1;
    c.hops.l2_dram.response.width = width;
    EXPECT_GT(bytes_per_cycle(c, 16 << 20), 0.9 * width) << "DRAM to L2, " << width;
  }
}

TEST(Bandwidth, AChannelOfOneCreditIsSlowerAndSaysSo) {
  GpuConfig c = pipe();
  c.hops.crossbar_l2.response.depth = 1;
  EXPECT_FALSE(c.shallow_channels().empty());
  EXPECT_LT(bytes_per_cycle(c, 512 * 1024), 20.0);
}

struct Stage {
  const char* name;
  std::uint64_t footprint;
  unsigned extra;
};

TEST(IdleLatency, IsExactlyTheSumOfTheStagesAtEveryLevel) {
  GpuConfig c = pipe();
  // Latencies that no two sums share, one row per line and no precharge, so that every DRAM read activates.
  c.hops.sm_l1_lg = {{128, 3, 16, 1}, {128, 5, 16, 1}};
  c.hops.l1_lg_crossbar = {{128, 11, 16, 1}, {128, 17, 32, 1}};
  c.hops.crossbar_l2 = {{128, 23, 32, 1}, {128, 31, 64, 1}};
  c.hops.l2_dram = {{128, 41, 64, 1}, {128, 47, 64, 1}};
  c.hops.l2_pcie = {{128, 53, 64, 1}, {128, 59, 64, 1}};
  c.dram.row_bytes = 128;
  c.dram.precharge = 0;
  const unsigned l1 = c.sm.issue_latency + 3 + 5 + c.sm.writeback_latency;
  const unsigned l2 = l1 + 11 + 17 + 23 + 31;
  const unsigned dram = l2 + 41 + 47 + c.dram.activate + c.dram.column + c.dram.sector_cycles;
  const unsigned link =
      l2 + 53 + 59 + (c.pcie.tlp_overhead + c.pcie.bytes_per_cycle - 1) / c.pcie.bytes_per_cycle +
      2 * c.pcie.latency + (c.pcie.tlp_overhead + 32 + c.pcie.bytes_per_cycle - 1) / c.pcie.bytes_per_cycle;
  const auto chase = [&c](std::uint64_t footprint, Aperture aperture, bool warm) {
    RunOptions options;
    options.tags_only = true;
    GpuPlatform platform(c, options);
    GeneratorParameters p;
    p.kind = "chase";
    p.footprint = footprint;
    p.stride = 128;
    p.block = {32, 1, 1};
    p.base = platform.allocate("chased", footprint, aperture);
    const std::uint64_t lines = footprint / 128;
    p.accesses = lines;
    if (warm) platform.launch(*make_generator(p));
    const Cycle one = platform.launch(*make_generator(p), !warm).cycles;
    p.accesses *= 2;
    p.base = warm ? p.base : platform.allocate("more", 2 * footprint, aperture);
    p.footprint = warm ? footprint : 2 * footprint;
    const Cycle two = platform.launch(*make_generator(p), !warm).cycles;
    return static_cast<double>(two - one) / static_cast<double>(lines);
  };
  EXPECT_EQ(chase(2048, Aperture::vidmem, true), l1);
  EXPECT_EQ(chase(512 * 1024, Aperture::vidmem, true), l2);
  EXPECT_EQ(chase(16 << 20, Aperture::vidmem, false), dram);
  EXPECT_EQ(chase(1 << 20, Aperture::sysmem, false), link);
}

}  // namespace bandwidth_test
}  // namespace warpline::test
