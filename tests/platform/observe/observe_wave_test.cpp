// A wave, read by an independent reader, says what the counters say and stays within the parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/random_machine.h"
#include "tests/platform/observe/observed_run.h"
#include "tests/support/vcd_reader.h"

namespace warpline::test {
namespace observe_wave_test {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

TEST(Wave, StaysWithinTheParametersAndEndsEmpty) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    const GpuConfig c = random_machine(random);
    const Vcd vcd = parse_vcd(watch_generators(c, seed, {}).wave);
    const auto most = [&](const std::string& path) { return vcd.of("gpu." + path).most(); };
    std::uint64_t misses = 0;
    for (unsigned i = 0; i < c.sms; ++i) {
      const std::string sm = "sm[" + std::to_string(i) + "]";
      EXPECT_LE(most(sm + ".warps"), c.sm.warp_slots);
      EXPECT_LE(most(sm + ".memory_instructions"), c.sm.lsu_entries);
      EXPECT_LE(most(sm + ".memory_queue"), c.sm.lsu_queue);
      EXPECT_LE(most(sm + ".l1_lg.miss_registers"), c.l1_lg.miss_registers);
      EXPECT_LE(most(sm + ".l1_lg.outgoing"), c.l1_lg.outgoing);
      EXPECT_LE(most(sm + ".l1_lg.from_sm.occupancy"), c.hops.sm_l1_lg.request.depth);
      EXPECT_LE(most(sm + ".l1_lg.from_crossbar.occupancy"), c.hops.l1_lg_crossbar.response.depth);
    }
    for (unsigned s = 0; s < c.l2.slices; ++s) {
      const std::string slice = "l2[" + std::to_string(s) + "]";
      EXPECT_LE(most(slice + ".from_crossbar.occupancy"), c.hops.crossbar_l2.request.depth);
      EXPECT_LE(most(slice + ".miss_registers"), c.l2.miss_registers);
      misses = std::max(misses, most(slice + ".miss_registers"));
    }
    EXPECT_GE(misses, 1U) << "seed " << seed;
    for (unsigned d = 0; d < c.dram.channels; ++d)
      EXPECT_LE(most("dram[" + std::to_string(d) + "].queue"), c.dram.queue);
    for (const auto& [path, signal] : vcd.signals) EXPECT_EQ(signal.last(), 0U) << path << " seed " << seed;
  }
}

/// Bytes of picoseconds per cycle of the mini preset.
constexpr std::uint64_t kPeriod = 1000;

TEST(Wave, BusyWiresAreTheBeatsThatTheCrossbarCounts) {
  for (const char* kernel : {"matmul", "histogram", "spmv"}) {
    const Watched run = watch_kernel(preset("mini"), kernel, false, {});
    const Vcd vcd = parse_vcd(run.wave);
    EXPECT_EQ(vcd.timescale, "1ps");
    EXPECT_EQ(vcd.end, (run.cycles + 1) * kPeriod);
    std::uint64_t busy = 0;
    for (const auto& [path, signal] : vcd.signals)
      if (ends_with(path, ".from_crossbar.busy")) busy += signal.integral(vcd.end);
    EXPECT_EQ(busy, run.counters.at("crossbar.beats") * kPeriod) << kernel;
  }
}

TEST(Wave, WarpsInTheWaveAreTheWarpsThatRan) {
  const Watched run = watch_kernel(preset("mini"), "vecadd", false, {});
  const Vcd vcd = parse_vcd(run.wave);
  std::uint64_t came = 0, warps = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::string sm = "sm[" + std::to_string(i) + "]";
    std::uint64_t before = 0;
    for (const auto& [time, value] : vcd.of("gpu." + sm + ".ctas").changes) {
      came += value > before ? value - before : 0;
      before = value;
    }
    warps += run.counters.at(sm + ".ctas");
  }
  EXPECT_EQ(came, warps);
}

/// In every cycle of the window both dumps hold the same values of the signals of `part`.
void expect_part(const Vcd& whole, const Vcd& part, Cycle first, Cycle last, const std::string& what) {
  EXPECT_EQ(part.begin, first * kPeriod) << what;
  EXPECT_LE(part.end, (last + 1) * kPeriod) << what;
  for (const auto& [path, signal] : part.signals) {
    const VcdSignal& of = whole.of(path);
    for (Cycle c = first; (c + 1) * kPeriod <= part.end; ++c)
      ASSERT_EQ(signal.at(c * kPeriod), of.at(c * kPeriod)) << path << " in cycle " << c << ", " << what;
  }
}

TEST(Wave, AWindowIsAPartOfTheWhole) {
  const GpuConfig config = preset("mini");
  const Watched run = watch_kernel(config, "reduce", false, {});
  const Vcd whole = parse_vcd(run.wave);
  Random random(3);
  for (unsigned n = 0; n < 12; ++n) {
    Watch how;
    how.window.first = random.below(run.cycles);
    how.window.last = how.window.first + (n == 0 ? 0 : random.below(400));
    how.mode = n % 2 == 0 ? TickMode::lazy : TickMode::spurious_and_shuffled;
    const Vcd part = parse_vcd(watch_kernel(config, "reduce", false, how).wave);
    EXPECT_EQ(part.signals.size(), whole.signals.size());
    expect_part(whole, part, how.window.first, how.window.last, "window " + std::to_string(n));
  }
}

TEST(Wave, AProbeIsAPartOfTheWhole) {
  const GpuConfig config = preset("mini");
  const Watched run = watch_kernel(config, "reduce", false, {});
  const Vcd whole = parse_vcd(run.wave);
  Watch how;
  const auto names = [&](std::vector<std::string> probes) {
    how.probes = std::move(probes);
    const Vcd part = parse_vcd(watch_kernel(config, "reduce", false, how).wave);
    expect_part(whole, part, 0, run.cycles, how.probes.front());
    std::vector<std::string> paths;
    for (const auto& [path, signal] : part.signals) paths.push_back(path);
    return paths;
  };
  const std::vector<std::string> slice = names({"l2[1]"});
  EXPECT_THAT(slice, testing::Contains("gpu.l2[1].miss_registers"));
  EXPECT_THAT(slice, testing::Contains("gpu.l2[1].from_dram[0].occupancy"));
  EXPECT_THAT(slice, testing::Each(testing::StartsWith("gpu.l2[1].")));
  EXPECT_THAT(names({"*.from_crossbar", "dram[0]"}),
              testing::AllOf(testing::Contains("gpu.sm[3].l1_lg.from_crossbar.busy"),
                             testing::Contains("gpu.dram[0].queue"),
                             testing::Not(testing::Contains("gpu.sm[3].l1_lg.miss_registers")),
                             testing::Not(testing::Contains("gpu.dram[1].queue"))));
  EXPECT_THAT(names({"sm[0]"}), testing::Not(testing::Contains("gpu.sm[0].l1_lg.miss_registers")));
  EXPECT_THAT(names({"sm[0]*"}), testing::Contains("gpu.sm[0].l1_lg.miss_registers"));
}

TEST(Wave, ARunThatIsCutOffLeavesACompleteOne) {
  Watch how;
  how.max_cycles = 700;
  const Watched run = watch_kernel(preset("mini"), "matmul", false, how);
  EXPECT_EQ(run.outcome, RunOutcome::cycle_limit);
  const Vcd cut = parse_vcd(run.wave);
  const Vcd whole = parse_vcd(watch_kernel(preset("mini"), "matmul", false, {}).wave);
  EXPECT_GE(cut.end, 690 * kPeriod);
  expect_part(whole, cut, 0, 700, "cut off");
}

}  // namespace observe_wave_test
}  // namespace warpline::test
