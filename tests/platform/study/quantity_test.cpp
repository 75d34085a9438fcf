// Quantities on small machines, of which the answer is known from their parameters.
#include "platform/study/quantity.h"

#include <gtest/gtest.h>

#include "platform/config/load_gpu.h"
#include "platform/study/model_device.h"

namespace warpline::study {
namespace quantity_test {

double measured(const std::string& name, const QuantityArguments& arguments,
                const std::vector<std::string>& sets = {}) {
  ModelDevice device(load_gpu("mini", sets).value());
  return find_quantity(name)->measure(device, arguments);
}

QuantityArguments with(std::map<std::string, double> numbers, std::map<std::string, std::string> words = {}) {
  return {std::move(numbers), std::move(words)};
}

TEST(Quantities, AChaseMeasuresTheIdleLatencyOfEachLevel) {
  // docs/presets.md, "What an access costs": a hit in L1 takes 5 cycles on mini.
  const double l1 = measured("chase", with({{"bytes", 8192}}));
  EXPECT_NEAR(l1, 5, 0.7) << "and an eighth of a turn of the loop";
  const double l2 = measured("chase", with({{"bytes", 131072}}));
  EXPECT_NEAR(measured("chase", with({{"bytes", 8192}}, {{"operator", "cg"}})), l2, 0.5);
  const double dram = measured("chase", with({{"bytes", 8 << 20}}));
  EXPECT_GT(l2, 10);
  EXPECT_GT(dram, l2 + 20);
  EXPECT_NEAR(measured("miss_penalty", with({{"bytes", 8192}, {"far_bytes", 131072}})), l2 - l1, 1);
}

TEST(Quantities, AChaseSeesALatencyThatIsAdded) {
  const auto at = [](const char* set) {
    return measured("chase", with({{"bytes", 131072}}), {set, "hops.crossbar_l2.response.depth=64"});
  };
  EXPECT_NEAR(at("hops.crossbar_l2.response.latency=30") - at("hops.crossbar_l2.response.latency=10"), 20,
              0.5);
}

TEST(Quantities, SharedMemoryIsMeasuredWithItsConflicts) {
  const double alone = measured("chase_shared", with({}));
  EXPECT_NEAR(alone, 12, 0.5) << "sm.shared_latency";
  EXPECT_NEAR(measured("chase_shared", with({{"ways", 8}})), alone + 7 * 2, 0.5) << "sm.shared_pass_cycles";
  const double wide = measured("shared_bandwidth", with({{"warps", 16}}));
  EXPECT_NEAR(wide, 128, 20) << "what the barriers around take is in it";
  EXPECT_NEAR(measured("shared_bandwidth", with({{"warps", 16}}), {"sm.shared_part_cycles=2"}), 64, 8);
}

TEST(Quantities, BarriersAreMeasuredByTheirLatencyAndTurns) {
  const std::vector<std::string> sets = {"sm.barrier_latency=100", "sm.barrier_arrival_cycles=10"};
  const double one = measured("barrier_block", with({{"warps", 1}}), sets);
  EXPECT_NEAR(one, 110, 4);
  EXPECT_NEAR(measured("barrier_block", with({{"warps", 9}}), sets) - one, 80, 6);
}

TEST(Quantities, AGridsBarrierHasItsFences) {
  const auto at = [](const std::string& set) {
    return measured("barrier_grid", with({{"blocks", 4}, {"threads", 64}}), {set});
  };
  EXPECT_GT(at("sm.fence_latency=1000") - at("sm.fence_latency=0"), 1500)
      << "two fences, one behind the other";
}

TEST(Quantities, AStreamIsNoFasterThanDram) {
  const GpuConfig mini = load_gpu("mini").value();
  const double peak = 32e6 * mini.dram.channels * mini.clocks.dram / mini.dram.sector_cycles;
  for (const char* kind : {"read", "write", "scale", "triad"}) {
    const double got = measured("stream", with({{"block", 256}}, {{"kind", kind}}));
    EXPECT_LT(got, peak * 1.02) << kind;
    EXPECT_GT(got, peak * 0.4) << kind;
  }
}

TEST(Quantities, FewThreadsShowWhatALaunchCosts) {
  const auto at = [](const std::string& set) {
    return measured("stream", with({{"block", 32}}, {{"kind", "write"}}), {set});
  };
  // Two blocks of 256 bytes each take a launch's latency each time.
  const double slow = at("sm.cta_launch_latency=2000");
  EXPECT_NEAR(slow, 4 * 2 * 256 / 2000e-9, 0.15 * slow);
  EXPECT_GT(at("sm.cta_launch_latency=0"), 5 * slow);
}

TEST(Quantities, ACopyOfTheHostTakesItsSetupARampAndItsRate) {
  const std::vector<std::string> sets = {"host_copy.setup_ns=2000",         "host_copy.call_ns=1000",
                                         "host_copy.ramp_bytes=10000",      "host_copy.to_gpu=10000",
                                         "host_copy.from_gpu=20000",        "host_copy.pageable_to_gpu=5000",
                                         "host_copy.pageable_from_gpu=2000"};
  const auto ns = [&](double bytes, const char* to, const char* memory, const char* timed_by) {
    return measured("host_copy_time",
                    with({{"bytes", bytes}}, {{"to", to}, {"memory", memory}, {"timed_by", timed_by}}),
                    sets);  // a cycle is a nanosecond on mini
  };
  EXPECT_NEAR(ns(10, "device", "page_locked", "events"), 2002, 0.01) << "twice as slow at its beginning";
  EXPECT_NEAR(ns(100000, "device", "page_locked", "events"), 13000, 0.01);
  EXPECT_NEAR(ns(100000, "device", "page_locked", "host"), 14000, 0.01);
  EXPECT_NEAR(ns(100000, "host", "page_locked", "events"), 7500, 0.01);
  EXPECT_NEAR(ns(100000, "device", "pageable", "events"), 24000, 0.01);
  EXPECT_NEAR(ns(100000, "host", "pageable", "events"), 57000, 0.01);
  // 100000 bytes in packets of 256 with 24 more, 16 bytes a cycle after 250 cycles.
  EXPECT_NEAR(measured("host_copy_time", with({{"bytes", 100000}})), 250 + (100000 + 391 * 24) / 16.0, 0.01);
  EXPECT_NEAR(measured("host_copy", with({{"bytes", 100000}}), sets), 100000 / 13000e-9, 1e3);
}

TEST(Quantities, EveryOneIsMeasured) {
  for (const Quantity& q : quantities()) {
    QuantityArguments a;
    for (const NumberArgument& n : q.numbers)
      if (n.required) a.numbers[n.name] = 16384;
    if (a.numbers.count("stride") != 0) a.numbers["stride"] = 3;
    if (a.numbers.count("far_bytes") != 0) a.numbers["far_bytes"] = 131072;
    for (const WordArgument& w : q.words) a.words[w.name] = w.words.front();
    ModelDevice device(load_gpu("mini").value());
    EXPECT_GT(q.measure(device, a), 0) << q.name;
  }
}

}  // namespace quantity_test
}  // namespace warpline::study
