// The law of the transports, for whole runs: every cycle, counter and result is the same.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "workspace.h"

namespace warpline::test {
namespace {

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
  all.erase("wall_s");
  return all;
}

TEST_P(Transports, OfAKernelAgreeInEveryCycleAndCounter) {
  const Workspace w;
  const std::vector<std::string> input = {in_source(std::string("sw/kernels/") + GetParam() + ".toml")};
  EXPECT_EQ(statistics_of(w, input, "fast"), statistics_of(w, input, "at"));
}

INSTANTIATE_TEST_SUITE_P(Kernels, Transports,
                         testing::Values("chase", "histogram", "matmul", "reduce", "spmv", "stencil",
                                         "transpose", "vecadd"));

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

TEST(TransportsOfBadRuns, EndAlike) {
  const Workspace w;
  const std::string input = in_source("sw/kernels/matmul.toml");
  for (const char* transport : {"fast", "at"}) {
    const Finished run = w.warpline({"run", input, "--transport", transport, "--max-cycles", "500"});
    EXPECT_EQ(run.status, 3) << transport << run.err;
  }
}

}  // namespace
}  // namespace warpline::test
