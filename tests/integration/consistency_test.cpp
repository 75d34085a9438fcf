// `warpline run --check-consistency` as users meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace consistency_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string kernel(const std::string& name) {
  return in_source("sw/kernels/" + name + ".toml");
}

TEST(CheckConsistency, AGridThatObeysIsSaidToDoSo) {
  const Workspace w;
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run = w.warpline(
        {"run", kernel("vecadd"), "--check-consistency", "--transport", transport, "--stats", "s.json"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("consistency: obeys the PTX 9.0 model ("));
    const auto stats = nlohmann::json::parse(read_file(w.path("s.json")));
    EXPECT_EQ(stats["launches"][0]["consistency"]["verdict"], "obeys");
    EXPECT_GT(stats["launches"][0]["consistency"]["accesses"], 1000);
  }
  const Finished quiet = w.warpline({"run", kernel("vecadd"), "--check-consistency", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_THAT(quiet.out, IsEmpty());
}

TEST(CheckConsistency, SaysByWhichModelItJudges) {
  const Workspace w;
  const auto by = [&](const std::string& model) {
    return w.warpline({"run", kernel("vecadd"), "--check-consistency", "--model", model});
  };
  EXPECT_THAT(by("ptx75").out, HasSubstr("consistency: obeys the PTX 7.5 model ("));
  EXPECT_THAT(by("ptx90").out, HasSubstr("consistency: obeys the PTX 9.0 model ("));
  const Finished unknown = by("ptx80");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("ptx80"));
  const Finished alone = w.warpline({"run", kernel("vecadd"), "--model", "ptx75"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("--model says by what --check-consistency judges"));
}

TEST(CheckConsistency, ThreadsThatMeetAreJudgedTogether) {
  const Workspace w;
  const Finished run = w.warpline({"run", kernel("reduce"), "--check-consistency"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("consistency: \"reduce\" obeys"), Not(HasSubstr("(0 threads"))));
}

TEST(CheckConsistency, WhatADriverForgotToInvalidateIsAViolation) {
  const Workspace w;
  const Finished run =
      w.warpline({"run", kernel("stale"), "--check-consistency", "--quiet", "--stats", "s.json"});
  EXPECT_EQ(run.status, 1) << "x is 2, and an L1 says 1";
  EXPECT_THAT(run.err, AllOf(HasSubstr("kernel \"look\" violates the PTX 9.0 model, coherence: "),
                             HasSubstr("reads 1 of x")));
  const auto stats = nlohmann::json::parse(read_file(w.path("s.json")));
  const Finished drawn =
      w.warpline({"run", kernel("stale"), "--check-consistency", "--quiet", "--dot", "stale.dot"});
  EXPECT_EQ(drawn.status, 1);
  EXPECT_THAT(read_file(w.path("stale.dot")),
              AllOf(HasSubstr("digraph \"look\""), HasSubstr("forbidden: coherence"), HasSubstr("x = 1\"]")));
  std::string verdicts;
  for (const auto& launch : stats["launches"])
    verdicts += launch["consistency"]["verdict"].get<std::string>() + " ";
  EXPECT_EQ(verdicts, "obeys obeys violates obeys ");
}

TEST(CheckConsistency, WhatCannotBeJudgedIsRefused) {
  const Workspace w;
  const Finished textures = w.warpline({"run", kernel("texture"), "--check-consistency", "--quiet"});
  EXPECT_EQ(textures.status, 2);
  EXPECT_THAT(textures.err, HasSubstr("not judged: texture accesses ("));
  w.write("g.toml", "generator = \"stream\"\nfootprint = 4096\naccesses = 10\n");
  const Finished generator = w.warpline({"run", "g.toml", "--check-consistency"});
  EXPECT_EQ(generator.status, 2);
  EXPECT_THAT(generator.err, HasSubstr("traces and generators carry no data"));
}

TEST(CheckConsistency, StatisticsAreThoseOfARunThatNobodyJudges) {
  const Workspace w;
  const auto counters = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run", kernel("reduce"), "--quiet", "--stats", "out.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(w.warpline(arguments).status, 0);
    const auto stats = nlohmann::json::parse(read_file(w.path("out.json")));
    return std::pair(stats["cycles"], stats["counters"]);
  };
  EXPECT_EQ(counters({}), counters({"--check-consistency"}));
}

}  // namespace consistency_test
}  // namespace warpline::test
