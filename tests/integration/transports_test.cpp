// The law of the transports, for whole runs: every cycle, counter and result is the same.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace transports_test {

using nlohmann::json;

class Transports : public testing::TestWithParam<const char*> {};

/// Statistics without what may differ: time on the host, and the transport's own name.
json statistics_of(const Workspace& w, const std::vector<std::string>& input, const std::string& transport) {
  std::vector<std::string> arguments = {"run"};
  arguments.insert(arguments.end(), input.begin(), input.end());
  arguments.insert(arguments.end(), {"--transport", transport, "--stats", "out.json"});
  const Finished run = w.warpline(arguments);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  json all = json::parse(read_file(w.path("out.json")));
  EXPECT_EQ(all.at("transport"), transport);
  all.erase("transport");
  for (const char* const key : {"wall_s", "command", "options"}) all.erase(key);
  return all;
}

TEST_P(Transports, OfAKernelAgreeInEveryCycleAndCounter) {
  const Workspace w;
  const std::vector<std::string> input = {in_source(std::string("sw/kernels/") + GetParam() + ".toml")};
  EXPECT_EQ(statistics_of(w, input, "fast"), statistics_of(w, input, "at"));
}

TEST_P(Transports, OfAKernelAgreeUnderJitter) {
  const Workspace w;
  const std::vector<std::string> input = {in_source(std::string("sw/kernels/") + GetParam() + ".toml"),
                                          "--jitter", "7"};
  const json fast = statistics_of(w, input, "fast");
  EXPECT_EQ(fast, statistics_of(w, input, "at"));
  EXPECT_NE(fast, statistics_of(w, {input.front()}, "fast"));
}

TEST_P(Transports, LooselyTimedLeavesTheSameResults) {
  const Workspace w;
  // The launch file's expectations are checked by the run itself.
  const json loose = statistics_of(w, {in_source(std::string("sw/kernels/") + GetParam() + ".toml")}, "lt");
  EXPECT_GT(loose.at("cycles"), 0);
  EXPECT_GT(loose.at("counters").at("crossbar.beats").at("value"), 0);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Transports,
                         testing::Values("chase", "hints", "histogram", "matmul", "pipeline", "reduce",
                                         "spmv", "stencil", "texture", "transpose", "vecadd"));

TEST(TransportsOfOddMachines, ClockRatiosAndDependentLaunchesAgree) {
  const Workspace w;
  const std::string one = in_source("sw/kernels/reduce.toml"), two = in_source("sw/kernels/stencil.toml");
  const std::vector<std::string> input = {one,
                                          two,
                                          one,
                                          "--set",
                                          "clocks.sm=1380",
                                          "--set",
                                          "clocks.l2=977",
                                          "--set",
                                          "clocks.dram=333",
                                          "--set",
                                          "sms=3",
                                          "--set",
                                          "l2.slices=5",
                                          "--set",
                                          "dram.channels=2"};
  EXPECT_EQ(statistics_of(w, input, "fast"), statistics_of(w, input, "at"));
}

/// `input` with hops opened as pins.
std::vector<std::string> with_pins(std::vector<std::string> input, const std::vector<std::string>& patterns) {
  for (const std::string& p : patterns) input.insert(input.end(), {"--pins", p});
  return input;
}

TEST_P(Transports, KeepEveryCycleAndCounterWhereHopsAreOpenedAsPins) {
  const Workspace w;
  const std::vector<std::string> input = {in_source(std::string("sw/kernels/") + GetParam() + ".toml")};
  const json expected = statistics_of(w, input, "fast");
  EXPECT_EQ(expected, statistics_of(w, with_pins(input, {"l2[0].from_crossbar", "dram*"}), "fast"));
  EXPECT_EQ(expected, statistics_of(w, with_pins(input, {"*.to_crossbar"}), "at"));
}

TEST(TransportsOfOddMachines, AllHopsOpenedAsPinsAgreeThroughDependentLaunches) {
  const Workspace w;
  const std::string one = in_source("sw/kernels/reduce.toml"), two = in_source("sw/kernels/stencil.toml");
  std::vector<std::string> input = {one, two, one};
  for (const char* set : {"clocks.sm=1380", "clocks.l2=977", "clocks.dram=333", "clocks.link=111",
                          "hops.crossbar_l2.response.credit_latency=90", "hops.sm_l1_lg.request.depth=1",
                          "hops.l2_dram.request.width=16", "sms=2", "l2.slices=3"})
    input.insert(input.end(), {"--set", set});
  EXPECT_EQ(statistics_of(w, input, "fast"), statistics_of(w, with_pins(input, {"*"}), "fast"));
}

TEST(FastForward, MeasuresFromTheNamedKernelOnWithWarmCaches) {
  const Workspace w;
  const std::string input = in_source("sw/kernels/chase.toml");
  for (const char* transport : {"fast", "at"}) {
    const json whole = statistics_of(w, {input}, transport);
    const json named = statistics_of(w, {input, "--fast-forward", "chase", "--keep-warm"}, transport);
    EXPECT_EQ(statistics_of(w, {input, "--fast-forward", "1", "--keep-warm"}, transport), named);
    EXPECT_EQ(named.at("fast_forwarded"), 1);
    EXPECT_TRUE(named.at("launches")[0].at("fast_forwarded"));
    // One thread's dependent loads: they take the time that they take after a timed first grid.
    std::uint64_t cycles = 0, l2_hits = 0;
    for (const int launch : {1, 2}) {
      EXPECT_EQ(named.at("launches")[launch].at("cycles"), whole.at("launches")[launch].at("cycles"));
      EXPECT_EQ(named.at("launches")[launch].at("counters"), whole.at("launches")[launch].at("counters"));
      cycles += whole.at("launches")[launch].at("cycles").get<std::uint64_t>();
      l2_hits +=
          whole.at("launches")[launch].at("counters").at("l2.sector_hits").at("value").get<std::uint64_t>();
    }
    EXPECT_EQ(named.at("cycles"), cycles);
    EXPECT_EQ(named.at("counters").at("l2.sector_hits").at("value"), l2_hits);
  }
}

TEST(FastForward, LeavesTheCachesColdAndTheMemoryAsItIs) {
  const Workspace w;
  const std::string input = in_source("sw/kernels/chase.toml");
  for (const char* transport : {"fast", "at"}) {
    const json warm = statistics_of(w, {input, "--fast-forward", "chase", "--keep-warm"}, transport);
    const json cold = statistics_of(w, {input, "--fast-forward", "chase"}, transport);
    EXPECT_EQ(cold.at("fast_forwarded"), 1);
    EXPECT_EQ(cold.at("checks"), warm.at("checks"));
    EXPECT_EQ(cold.at("failed_checks"), 0);
    const auto misses = [](const json& statistics) {
      const json& counted = statistics.at("launches")[1].at("counters");
      return counted.at("l2.sector_misses").at("value").get<std::uint64_t>();
    };
    EXPECT_GT(misses(cold), misses(warm));
    EXPECT_GT(cold.at("launches")[1].at("cycles"), warm.at("launches")[1].at("cycles"));
  }
}

TEST(FastForward, IsWarmWhereConsistencyIsChecked) {
  const Workspace w;
  const std::string input = in_source("sw/kernels/chase.toml");
  const json checked = statistics_of(w, {input, "--fast-forward", "1", "--check-consistency"}, "fast");
  const json warm = statistics_of(w, {input, "--fast-forward", "1", "--keep-warm"}, "fast");
  EXPECT_EQ(checked.at("cycles"), warm.at("cycles"));
  EXPECT_EQ(checked.at("exit_status"), 0);
}

TEST(Functional, GivesTheResultsOfTimedRunsAndCountsInstructions) {
  const Workspace w;
  for (const char* name : {"matmul", "histogram", "grid_sum", "pipeline", "hot_set", "attention"}) {
    const std::string input = in_source(std::string("sw/kernels/") + name + ".toml");
    const json timed = statistics_of(w, {input}, "fast"),
               functional = statistics_of(w, {input}, "functional");
    EXPECT_EQ(functional.at("checks"), timed.at("checks")) << name;
    EXPECT_EQ(functional.at("failed_checks"), 0) << name;
    const auto of = [](const json& statistics, const char* counter) {
      return statistics.at("counters").at(counter).at("value").get<std::uint64_t>();
    };
    EXPECT_NE(of(functional, "sm.lsu.past_caches"), 0U) << name;
    EXPECT_EQ(of(functional, "l1_lg.sector_accesses"), 0U) << name;
    EXPECT_EQ(of(timed, "sm.lsu.past_caches"), 0U) << name;
  }
}

TEST(FastForward, GridsThatRunTogetherAreMeasuredTogether) {
  const Workspace w;
  w.write("k.ptx",
          ".version 7.0\n.target sm_70\n.address_size 64\n"
          ".visible .entry first(.param .u64 out)\n{\nret;\n}\n"
          ".visible .entry second(.param .u64 out)\n{\nret;\n}\n");
  const auto launch = [](const std::string& kernel, const std::string& argument,
                         const std::string& more = "") {
    return "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"" + kernel + "\"\ngrid = [1]\nblock = [32]\n" + more +
           "[[launch.argument]]\n" + argument;
  };
  const std::string declared = "buffer = \"out\"\ntype = \"u32\"\ncount = 32\naperture = \"sysmem\"\n",
                    named = "buffer = \"out\"\n";
  // Before the measurement, beside the first that is asked for, and that one itself.
  const std::string input = w.write("l.toml", launch("first", declared) + launch("first", named) +
                                                  launch("second", named, "gpu = 1\nconcurrent = true\n"));
  for (const char* from : {"second", "2", "1"}) {
    const json statistics = statistics_of(w, {input, "--set=gpus=2", "--fast-forward", from}, "fast");
    ASSERT_EQ(statistics.at("launches").size(), 2U);
    EXPECT_EQ(statistics.at("fast_forwarded"), 1) << from;
    EXPECT_TRUE(statistics.at("launches")[0].contains("fast_forwarded"));
    EXPECT_FALSE(statistics.at("launches")[1].contains("fast_forwarded"));
  }
}

TEST(TransportsOfBadRuns, EndAlike) {
  const Workspace w;
  const std::string input = in_source("sw/kernels/matmul.toml");
  for (const char* transport : {"fast", "at"}) {
    const Finished run = w.warpline({"run", input, "--transport", transport, "--max-cycles", "500"});
    EXPECT_EQ(run.status, 3) << transport << run.err;
    const Finished pins =
        w.warpline({"run", input, "--transport", transport, "--max-cycles", "500", "--pins", "*"});
    EXPECT_EQ(pins.status, 3) << transport << pins.err;
  }
}

}  // namespace transports_test
}  // namespace warpline::test
