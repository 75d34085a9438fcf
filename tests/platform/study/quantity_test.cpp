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

TEST(Quantities, StepsThatAreTimedHaveTheClocksLatencyInThemOrOutsideOfThem) {
  const auto steps = [](const char* timed, const std::string& latency, const std::string& cycles) {
    return measured("chase", with({{"bytes", 8192}}, {{"timed", timed}, {"operator", "ca"}}),
                    {"sm.clock_latency=" + latency, "sm.clock_cycles=" + cycles,
                     "hops.sm_l1_lg.request.latency=80", "hops.sm_l1_lg.request.depth=96"});
  };
  // The second time is read behind the load, and waits for the first one.
  EXPECT_NEAR(steps("waited_steps", "20", "31") - steps("waited_steps", "20", "1"), 30, 1);
  EXPECT_NEAR(steps("waited_steps", "40", "1"), steps("waited_steps", "20", "1"), 1);
  // The load goes on while its time is waited for, and counts less.
  EXPECT_NEAR(steps("steps", "20", "1") - steps("steps", "40", "1"), 20, 1);
  const auto shared = [](const std::string& cycles) {
    return measured("chase_shared", with({}, {{"timed", "waited_steps"}}),
                    {"sm.clock_latency=20", "sm.clock_cycles=" + cycles});
  };
  EXPECT_NEAR(shared("31") - shared("1"), 30, 1);
  EXPECT_THROW(measured("chase", with({{"bytes", 8192}}, {{"timed", "steps"}, {"operator", "cv"}})),
               BenchError);
}

TEST(Quantities, AMissPenaltyByItsStepsLeavesOutWhatIsNotWaitedFor) {
  const QuantityArguments whole = with({{"bytes", 8192}, {"far_bytes", 131072}}),
                          steps = with({{"bytes", 8192}, {"far_bytes", 131072}}, {{"timed", "steps"}});
  const std::vector<std::string> sets = {"sm.clock_latency=15", "hops.l1_lg_crossbar.request.latency=80",
                                         "hops.l1_lg_crossbar.request.depth=96"};
  const double less = measured("miss_penalty", whole, sets) - measured("miss_penalty", steps, sets);
  EXPECT_GT(less, 15);
  EXPECT_LT(less, 60);
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

/// A miss takes longer than the store with which a timed step ends, as on any product.
std::vector<std::string> far_misses(std::vector<std::string> sets) {
  for (const char* hop : {"l1_lg_crossbar", "texture_crossbar", "constant_crossbar"})
    for (const char* key : {"depth=128", "latency=60"})
      sets.push_back("hops." + std::string(hop) + ".response." + key);
  return sets;
}

TEST(Quantities, SizesAreThoseAtWhichChasesBecomeSlower) {
  // Sets of l1_lg, texture and l2 are lines of 128 bytes in 4, 4 and 8 ways; L2 has four slices.
  const auto size = [](const char* cache, const std::string& set) {
    return measured("cache_size", with({}, {{"cache", cache}}), far_misses({set}));
  };
  for (const unsigned sets : {16U, 64U}) {
    const double bytes = sets * 512.0;
    EXPECT_NEAR(size("l1", "l1_lg.sets=" + std::to_string(sets)), bytes * 1.01, bytes * 0.02);
    for (const char* cache : {"nc", "texture"})
      EXPECT_NEAR(size(cache, "texture.sets=" + std::to_string(sets)), bytes * 1.01, bytes * 0.02) << cache;
  }
  for (const unsigned sets : {64U, 128U}) {
    const double bytes = sets * 4096.0, found = measured("cache_size", with({}, {{"cache", "l2"}}),
                                                         {"l2.sets=" + std::to_string(sets)});
    EXPECT_GT(found, 0.9 * bytes);
    EXPECT_LT(found, 1.05 * bytes);
  }
}

TEST(Quantities, BothLevelsOfConstantsHaveASize) {
  const auto of = [](const char* quantity, const char* cache, const std::vector<std::string>& sets) {
    std::vector<std::string> all = {"constant.first_level.bytes=2048",
                                    "constant.first_level.next_latency=40"};
    all.insert(all.end(), sets.begin(), sets.end());
    return measured(quantity, with({}, {{"cache", cache}}), far_misses(all));
  };
  EXPECT_EQ(of("cache_size", "constant", {}), 2048 + 64);
  EXPECT_EQ(of("cache_size", "constant", {"constant.first_level.bytes=4096"}), 4096 + 64);
  EXPECT_NEAR(of("cache_size", "constant_second", {"constant.sets=64"}), 32768, 1024);
  EXPECT_EQ(of("cache_size", "constant_second", {"constant.sets=128"}), 65537)
      << "one more than all that there is";
  EXPECT_EQ(of("line_size", "constant", {}), 64);
  EXPECT_EQ(of("line_size", "constant", {"constant.first_level.block_bytes=128"}), 128);
}

TEST(Quantities, LinesHaveATagAndSectorsAreFetched) {
  for (const std::string cache : {"l1", "texture", "l2"}) {
    const std::vector<std::string> sets = cache == "l2" ? std::vector<std::string>{} : far_misses({});
    EXPECT_EQ(measured("line_size", with({}, {{"cache", cache}}), sets), 128) << cache;
    EXPECT_EQ(measured("fetch_size", with({}, {{"cache", cache}}), sets), 32) << cache;
  }
  // Every third or fifth line left out leaves sets out whose number is a multiple of that.
  EXPECT_EQ(measured("line_size", with({}, {{"cache", "l1"}}), far_misses({"l1_lg.sets=30"})), 128);
}

TEST(Quantities, FartherHitsInL2AreThoseOfLateSlices) {
  const auto at = [](double percentile) {
    return measured("l2_hit", with({{"bytes", 131072}, {"percentile", percentile}}));
  };
  EXPECT_NEAR(at(50), measured("chase", with({{"bytes", 131072}}, {{"operator", "cg"}})), 2);
  EXPECT_GE(at(95), at(5));
}

TEST(Quantities, ASignalsRoundTripHasItsFencesAndWords) {
  const auto at = [](const char* way, double bytes, const std::string& set) {
    return measured("signal_round_trip", with({{"bytes", bytes}}, {{"way", way}}), {set});
  };
  const std::string none = "sm.fence_latency=0", some = "sm.fence_latency=500";
  EXPECT_GT(at("counter", 4, some) - at("counter", 4, none), 400) << "the fence is on the way";
  EXPECT_GT(at("embedded", 4096, none), at("embedded", 4, none) + 100);
  EXPECT_GT(at("release", 4, none),
            4 * measured("chase", with({{"bytes", 131072}}, {{"operator", "cg"}})) / 2);
}

TEST(Quantities, BlocksOfAClusterAreAsFarAsTheirNetwork) {
  const auto at = [](const char* latency) {
    return measured("chase_cluster", with({{"blocks", 2}}),
                    {"sm_network.present=true", "hops.sm_network.response.depth=64",
                     std::string("hops.sm_network.response.latency=") + latency});
  };
  EXPECT_NEAR(at("30") - at("10"), 20, 0.5);
  const auto wide = [](const char* width) {
    return measured("cluster_bandwidth", with({{"blocks", 2}}),
                    {"sm_network.present=true", std::string("hops.sm_network.response.width=") + width});
  };
  EXPECT_NEAR(wide("32") / wide("16"), 2, 0.2);
}

TEST(Quantities, ABulkCopyTakesItsUnitsLatency) {
  const auto at = [](const char* set) { return measured("chase_bulk", with({{"bytes", 131072}}), {set}); };
  EXPECT_NEAR(at("sm.bulk_copy.latency=300") - at("sm.bulk_copy.latency=100"), 200, 2);
}

TEST(Quantities, BarriersByTheClockAreThoseOfTheSlope) {
  for (const double warps : {1.0, 8.0})
    EXPECT_NEAR(
        measured("barrier_block", with({{"warps", warps}}, {{"by", "clock"}}), {"sm.barrier_latency=100"}),
        measured("barrier_block", with({{"warps", warps}}), {"sm.barrier_latency=100"}), 6);
  const auto grid = [](const std::string& set) {
    return measured("barrier_grid", with({{"blocks", 4}, {"threads", 64}}, {{"by", "clock"}}), {set});
  };
  EXPECT_GT(grid("sm.fence_latency=1000") - grid("sm.fence_latency=0"), 1500);
}

TEST(Quantities, AtomicsInSharedMemoryAreNoMoreThanItsPasses) {
  EXPECT_NEAR(measured("shared_atomic_rate", with({{"warps", 8}})) /
                  measured("shared_atomic_rate", with({{"warps", 8}}), {"sm.shared_part_cycles=2"}),
              2, 0.3);
}

TEST(Quantities, AtomicsInSharedMemoryAreMeasuredByLatencyAndInterval) {
  const auto latency = [](const std::vector<std::string>& sets) {
    return measured("atomic_latency", with({{"contention", 4}}, {{"space", "shared"}}), sets);
  };
  EXPECT_NEAR(latency({"sm.shared_atomic_cycles=7"}) - latency({}), 7, 0.1);
  const auto next = [](double lanes) {
    return measured("shared_atomic_interval", with({{"contention", lanes}}),
                    {"sm.shared_atomic_interval=9", "sm.shared_pass_cycles=3"});
  };
  EXPECT_NEAR(next(1), 1 + 9, 0.2);
  EXPECT_NEAR(next(8), 1 + 7 * 3 + 9, 0.2);
  const auto rate = [](double warps) {
    return measured("shared_atomic_rate", with({{"warps", warps}}), {"sm.shared_atomic_interval=9"});
  };
  EXPECT_NEAR(rate(1), 0.1, 0.01);
  EXPECT_NEAR(rate(4), 0.4, 0.04) << "each warp has an interval of its own";
}

TEST(Quantities, ReductionsLeaveAnSmByTheirLanes) {
  for (const double lanes : {1.0, 4.0, 32.0})
    EXPECT_NEAR(measured("reduction_interval", with({{"contention", lanes}}), {"sm.atomic_cycles=64"}), 64,
                2);
}

TEST(Quantities, TwoOfFourFloatsAreReadFromL1) {
  const auto of = [](const char* type, const char* pass = "sm.l1_pass_cycles=1") {
    return measured("l1_bandwidth", with({{"warps", 4}}, {{"type", type}}), {"sm.l1_ports=4", pass});
  };
  EXPECT_NEAR(of("float"), 128, 12);
  EXPECT_NEAR(of("float4"), 64, 6) << "in 16 banks of 8 bytes, of which words 16 bytes apart meet in half";
  EXPECT_NEAR(of("float4", "sm.l1_pass_cycles=2"), 32, 3);
}

TEST(Quantities, PairsOfFourFloatsMeetInTheirBanks) {
  const auto of = [](const char* set) {
    return measured("shared_bandwidth", with({{"warps", 16}}, {{"type", "float4"}}), {set});
  };
  EXPECT_NEAR(of("sm.shared_pass_cycles=1"), 64, 4);
  EXPECT_NEAR(of("sm.shared_pass_cycles=2"), 128.0 / 3, 3);
}

TEST(Quantities, PropertiesAreTheDevices) {
  const GpuConfig mini = load_gpu("mini").value();
  EXPECT_EQ(measured("property", with({}, {{"of", "bus_bits"}}), {"dram.bus_bits=64"}),
            64.0 * mini.dram.channels);
  EXPECT_EQ(measured("property", with({}, {{"of", "persist_bytes"}}), {"l2.evict_last_percent=50"}),
            256 * 1024);
}

TEST(Quantities, EveryOneIsMeasured) {
  for (const Quantity& q : quantities()) {
    QuantityArguments a;
    for (const NumberArgument& n : q.numbers)
      if (n.required) a.numbers[n.name] = 16384;
    if (std::string(q.name) == "chase_pages") a.numbers["bytes"] = 1U << 22U;
    if (a.numbers.count("stride") != 0) a.numbers["stride"] = 3;
    if (a.numbers.count("far_bytes") != 0) a.numbers["far_bytes"] = 131072;
    for (const WordArgument& w : q.words) a.words[w.name] = w.words.front();
    ModelDevice device(load_gpu("mini", {"sm_network.present=true", "dram.bus_bits=64"}).value());
    EXPECT_GT(q.measure(device, a), 0) << q.name;
  }
}

}  // namespace quantity_test
}  // namespace warpline::study
