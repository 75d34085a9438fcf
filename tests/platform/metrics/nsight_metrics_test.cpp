#include "platform/metrics/nsight_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/metrics/energy.h"
#include "platform/metrics/roofline.h"

namespace warpline {
namespace nsight_metrics_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MetricSource source_of(std::map<std::string, std::uint64_t> counters) {
  MetricSource out;
  out.counter = [counters = std::move(counters)](const std::string& path) {
    const auto found = counters.find(path);
    return found == counters.end() ? 0 : found->second;
  };
  out.time_ns = 500;
  out.sm_cycles = 1000;
  return out;
}

std::vector<NsightMetric> all() {
  return NsightMetric::named({"*", "*per_*"}).value();
}

NsightMetric metric(const std::string& name) {
  return NsightMetric::named({name}).value().at(0);
}

std::string why_not(const std::string& name) {
  const auto found = NsightMetric::named({name});
  return found.ok() ? "" : found.faults()[0].text();
}

TEST(NsightMetrics, AreSumsAndQuotientsOfCounters) {
  const MetricSource s = source_of({{"l2.read_sectors", 40},
                                    {"l2.sector_hits", 5},
                                    {"l2.merged_sectors", 10},
                                    {"l2.sector_misses", 35},
                                    {"l2.sector_accesses", 40},
                                    {"dram.bytes_read", 3200},
                                    {"dram.bytes_written", 64},
                                    {"sm.thread_instructions", 48},
                                    {"sm.instructions", 2}});
  EXPECT_EQ(metric("lts__t_sectors_op_read.sum").value(s), 40);
  EXPECT_EQ(metric("lts__t_sectors_lookup_hit.sum").value(s), 15)
      << "what joins a fetch is a hit, as Nsight has it";
  EXPECT_EQ(metric("lts__t_sectors_lookup_miss.sum").value(s), 25);
  EXPECT_EQ(metric("lts__t_sector_hit_rate.pct").value(s), 37.5);
  EXPECT_EQ(metric("dram__sectors_read.sum").value(s), 100);
  EXPECT_EQ(metric("dram__bytes.sum").value(s), 3264);
  EXPECT_EQ(metric("smsp__thread_inst_executed_per_inst_executed.ratio").value(s), 24);
  EXPECT_EQ(metric("dram__bytes_read.sum.per_second").value(s), 6.4e9);
  EXPECT_EQ(metric("sm__inst_executed.sum.per_cycle_elapsed").value(s), 0.002);
  EXPECT_EQ(metric("gpu__time_duration.sum").value(s), 500);
  EXPECT_EQ(metric("sm__cycles_elapsed.max").value(s), 1000);
}

TEST(NsightMetrics, WhatHasNoValueIsNotZero) {
  MetricSource s = source_of({});
  s.sm_cycles.reset();
  s.time_ns = 0;
  EXPECT_EQ(metric("lts__t_sectors_op_read.sum").value(s), 0);
  for (const char* name : {"lts__t_sector_hit_rate.pct", "dram__bytes_read.sum.per_second",
                           "sm__cycles_elapsed.max", "sm__inst_executed.sum.per_cycle_elapsed"}) {
    EXPECT_EQ(metric(name).value(s), std::nullopt) << name;
    EXPECT_THAT(metrics_text({metric(name)}, {s}), HasSubstr("  -  ")) << name;
  }
}

TEST(NsightMetrics, NamesArePatternsToo) {
  std::vector<std::string> names;
  const auto found = NsightMetric::named({"dram__bytes*", "gpu__time_duration.sum"});
  ASSERT_TRUE(found.ok());
  for (const NsightMetric& m : found.value()) names.push_back(m.name());
  EXPECT_THAT(names, ElementsAre("dram__bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
                                 "gpu__time_duration.sum"));
  EXPECT_THAT(why_not("lts__t_sectors_op_raed.sum"),
              HasSubstr("did you mean \"lts__t_sectors_op_read.sum\"?"));
  EXPECT_THAT(why_not("lts__t_sectors_op_read"), HasSubstr("no equal of a metric"));
  EXPECT_THAT(why_not("lts__t_sectors_op_read.sum.per_cycle_elapsed"), HasSubstr("no equal"))
      << "L2 has a clock of its own";
  EXPECT_THAT(why_not("nothing*"), HasSubstr("no metric fits"));
}

TEST(Energy, IsWorkTimesFiguresAndTime) {
  MetricSource s = source_of({{"dram.bytes_read", 1'000'000}, {"sm.thread_instructions", 1'000'000}});
  s.time_ns = 1000;
  double sum = 0;
  std::map<std::string, double> of;
  for (const EnergyShare& share : energy_of(s)) sum += of[share.what] = share.joules;
  EXPECT_DOUBLE_EQ(of.at("DRAM, read"), 36.3e-6);
  EXPECT_DOUBLE_EQ(of.at("instructions"), 5.4e-6);
  EXPECT_DOUBLE_EQ(of.at("static"), 126e-6);
  EXPECT_DOUBLE_EQ(sum, 36.3e-6 + 5.4e-6 + 126e-6);
  const std::string text = energy_text({s});
  EXPECT_THAT(text, HasSubstr("the whole run: 167.7 uJ, 41.7 uJ of it for what was done, 168 W"));
  EXPECT_THAT(text, HasSubstr("    126.0 uJ   75.1%  static\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("tensor"))) << "what was not done is not shown";
  s = source_of({});
  s.time_ns = 0;
  EXPECT_THAT(energy_text({s}), HasSubstr("the whole run: 0.0 pJ, 0.0 pJ of it for what was done\n"));
}

/// By hand: 2 SMs of 4 partitions at 1 GHz issue 8 a ns. 2 channels at 500 MHz, a sector each 2 cycles, carry
/// 16 B a ns; 4 slices of 32 B at 1 GHz, 128 B a ns. 640 instructions in 500 ns are 1.28 a ns.
TEST(Rooflines, AreTheLeastOfIssueSlotsAndBandwidth) {
  MetricSource s = source_of({{"sm.instructions", 640},
                              {"dram.bytes_read", 6000},
                              {"dram.bytes_written", 400},
                              {"crossbar.response_sectors", 200},
                              {"sm.matrix_multiply_adds", 3200}});
  s.time_ns = 500;
  const std::map<std::string, double> keys = {{"gpus", 1},          {"sms", 2},
                                              {"sm.partitions", 4}, {"clocks.sm", 1000},
                                              {"l2.slices", 4},     {"hops.crossbar_l2.response.width", 32},
                                              {"clocks.l2", 1000},  {"clocks.dram", 500},
                                              {"dram.channels", 2}, {"dram.sector_cycles", 2}};
  EXPECT_THAT(roofline_text({s}), HasSubstr("not known")) << "of a GPU that nobody knows";
  s.key = [&keys](const std::string& path) { return keys.at(path); };
  const std::vector<Roofline> all = rooflines(
      {[&](const std::string& path) { return static_cast<double>(s.counter(path)); }, s.key, s.time_ns});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].intensity, 0.1);
  EXPECT_DOUBLE_EQ(all[0].rate, 1.28);
  EXPECT_DOUBLE_EQ(all[0].bandwidth, 16);
  EXPECT_DOUBLE_EQ(all[0].roof(all[0].intensity), 1.6);
  EXPECT_TRUE(all[0].bandwidth_limits());
  EXPECT_DOUBLE_EQ(all[1].intensity, 0.1);
  EXPECT_DOUBLE_EQ(all[1].roof(all[1].intensity), 8) << "12.8 by bandwidth, and 8 can be issued";
  EXPECT_FALSE(all[1].bandwidth_limits());
  const std::string text = roofline_text({s});
  EXPECT_THAT(text, HasSubstr("640 in 500 ns, 1.28 a ns; SMs issue 8 at most: 16.0%"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "  DRAM                 6,400      12.8        16           0.1       1.6     80.0%  bandwidth\n"));
  EXPECT_THAT(text, HasSubstr("8     16.0%  issue slots\n"));
  EXPECT_THAT(text, HasSubstr("tensor cores: 6,400 operations, 12.8 G a second, 1 for each byte of DRAM"));
}

/// Counters of L1 have those of textures in them.
TEST(NsightMetrics, HitsAreNoMoreThanLookUps) {
  const MetricSource s = source_of({{"l1_lg.load_sector_hits", 90},
                                    {"l1_lg.merged_sectors", 10},
                                    {"sm.lsu.image_sectors", 100},
                                    {"sm.lsu.global_sectors", 100}});
  EXPECT_EQ(metric("l1tex__t_sector_hit_rate.pct").value(s), 50);
  EXPECT_EQ(metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum").value(s), std::nullopt);
  EXPECT_EQ(metric("lts__t_sectors_lookup_miss.sum").value(source_of({{"l2.merged_sectors", 1}})),
            std::nullopt)
      << "no count is less than nothing";
}

TEST(Energy, OfTwoGpusIsThatOfBothIdle) {
  MetricSource s = source_of({});
  s.gpus = 2;
  EXPECT_DOUBLE_EQ(energy_of(s).back().joules, 2 * 126 * 500e-9);
}

/// A path with a slip would read as zero for ever.
TEST(NsightMetrics, AreMadeOfCountersThatThereAre) {
  for (const char* gpu : {"mini", "h100"}) {
    GpuPlatform platform(load_gpu(gpu).value(), {});
    platform.build();
    CounterTable table;
    static_cast<void>(table.read([&](CounterVisitor& visitor) { platform.visit(visitor); }));
    std::set<std::string> known;
    for (const CounterTable::Entry& e : table.entries()) known.insert(e.path);
    std::set<std::string> unknown;
    MetricSource s = source_of({});
    s.counter = [&](const std::string& path) -> std::uint64_t {
      if (known.count(path) == 0 && path.compare(0, 8, "texture.") != 0) unknown.insert(path);
      return 1;
    };
    EXPECT_GT(all().size(), 60U);
    for (const NsightMetric& m : all())
      EXPECT_TRUE(m.value(s) || m.name().find("lookup_") != std::string::npos) << m.name();
    static_cast<void>(energy_of(s));
    EXPECT_THAT(unknown, ElementsAre()) << gpu;
  }
}

/// The same file in the layout of `run --stats` and in that of `exec --report`.
class MetricFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = ::testing::TempDir() + "metric_sources.json";
    std::ofstream(path) << text;
    return path;
  }
  void TearDown() override { std::remove((::testing::TempDir() + "metric_sources.json").c_str()); }
};

TEST_F(MetricFiles, OfARunHaveTheWholeAndEachKernel) {
  const auto sources = read_metric_sources(
      write(R"({"schema": 2, "configuration": {"clocks.sm": 2000, "gpus": 3}, "cycles": 100, "time_ns": 50,
    "counters": {"l2.read_sectors": {"value": 9}, "l2[0].read_sectors": {"value": 9}},
    "launches": [{"kernel": "a", "cycles": 40, "counters": {"l2.read_sectors": {"value": 3}}},
                 {"kernel": "b", "cycles": 20, "counters": {"l2.read_sectors": {"value": 1}}},
                 {"kernel": "skipped", "fast_forwarded": true, "cycles": 5, "counters": {}},
                 {"kernel": "a", "cycles": 20, "counters": {"l2.read_sectors": {"value": 4}}}]})"));
  ASSERT_TRUE(sources.ok());
  ASSERT_EQ(sources.value().size(), 3U);
  const NsightMetric reads = metric("lts__t_sectors_op_read.sum"), cycles = metric("sm__cycles_elapsed.max");
  const auto& [whole, a, b] = std::tie(sources.value()[0], sources.value()[1], sources.value()[2]);
  EXPECT_EQ(whole.name, "");
  EXPECT_EQ(reads.value(whole), 9);
  EXPECT_EQ(cycles.value(whole), 100);
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(reads.value(a), 7);
  EXPECT_EQ(cycles.value(a), 60);
  EXPECT_EQ(title_of(a), "kernel a, 2 launches together");
  EXPECT_EQ(b.gpus, 3U);
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(reads.value(b), 1);
}

/// Statistics with fewer counters leave out those of a launch that has none beside it.
TEST_F(MetricFiles, SayTheSameWhateverCountersTheyHave) {
  for (const std::size_t skipped : {0, 1}) {
    RunStatistics run;
    run.cycles = 100;
    run.time_ns = 50;
    run.transport = "fast";
    run.configuration = {{"sms", "2"}, {"gpus", "1"}, {"clocks.sm", "2000"}, {"sm.partitions", "4"}};
    run.values = run.table.read([](CounterVisitor& v) {
      v.counter("sm[0]", "instructions", 640, "instructions", "issued");
      v.counter("dram[0]", "bytes_read", 3200, "bytes", "read");
    });
    for (std::size_t n = 0; n <= skipped; ++n) {
      LaunchStatistics l;
      l.kernel = n < skipped ? "skipped" : "k";
      l.cycles = 100;
      l.measured = n == skipped;
      if (l.measured) l.counted = CounterTable::changes(run.values, {});
      run.launches.push_back(l);
    }
    std::vector<std::string> shown;
    for (const StatisticsCounters counters :
         {StatisticsCounters::all, StatisticsCounters::counted, StatisticsCounters::totals}) {
      const auto sources = read_metric_sources(write(to_json(run, counters)));
      ASSERT_TRUE(sources.ok());
      ASSERT_EQ(sources.value().size(), 1U);
      EXPECT_EQ(sources.value()[0].counter("sm.instructions"), 640U);
      EXPECT_EQ(sources.value()[0].transport, "fast");
      shown.push_back(metrics_text(all(), sources.value()) + energy_text(sources.value()) +
                      roofline_text(sources.value()));
    }
    EXPECT_EQ(shown[0], shown[1]);
    EXPECT_EQ(shown[0], shown[2]);
  }
}

/// A grid runs on one GPU of several, and two at a time on two.
TEST_F(MetricFiles, AKernelIsUnderTheRoofOfTheGpusThatRanIt) {
  const auto sources = read_metric_sources(
      write(R"({"schema": 2, "configuration": {"gpus": 2, "sms": 1, "sm.partitions": 4, "clocks.sm": 1000},
    "cycles": 100, "time_ns": 100, "counters": {"sm.instructions": {"value": 600}},
    "launches": [{"kernel": "a", "cycles": 50, "counters": {"sm.instructions": {"value": 200}}},
      {"kernel": "a + b", "cycles": 50, "gpus": 2, "counters": {"sm.instructions": {"value": 400}}}]})"));
  ASSERT_TRUE(sources.ok());
  const std::string text = roofline_text(sources.value());
  EXPECT_THAT(text, HasSubstr("the whole run: 600 in 100 ns, 6 a ns; SMs issue 8 at most: 75.0%"));
  EXPECT_THAT(text, HasSubstr("kernel a: 200 in 50 ns, 4 a ns; SMs issue 4 at most: 100.0%"));
  EXPECT_THAT(text, HasSubstr("kernel a + b: 400 in 50 ns, 8 a ns; SMs issue 8 at most: 100.0%"));
}

TEST_F(MetricFiles, OfAProgramHaveItsKernels) {
  const auto sources = read_metric_sources(write(
      R"({"sm_mhz": 1000, "kernels": [{"name": "k", "time_ns": 70, "counters": {"dram.bytes_read": 64}}]})"));
  ASSERT_TRUE(sources.ok());
  ASSERT_EQ(sources.value().size(), 1U);
  EXPECT_EQ(metric("dram__sectors_read.sum").value(sources.value()[0]), 2);
  EXPECT_EQ(metric("sm__cycles_elapsed.max").value(sources.value()[0]), 70);
}

TEST_F(MetricFiles, OthersAreRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"kernels": [1]})", R"({"kernels": [{"name": 1, "counters": {}}]})",
        R"({"kernels": [{"name": "a", "counters": 3}]})", R"({"counters": 1, "launches": [{}]})",
        R"({"counters": {}, "launches": [], "schema": 9})"}) {
    const auto sources = read_metric_sources(write(text));
    EXPECT_FALSE(sources.ok()) << text;
  }
  EXPECT_FALSE(read_metric_sources("/nowhere/at/all.json").ok());
}

}  // namespace nsight_metrics_test
}  // namespace warpline
