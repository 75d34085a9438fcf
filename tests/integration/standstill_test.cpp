// A run that is paused shows what is in flight: at the cycle limit, and on a signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace standstill_test {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

unsigned lines_with(const std::string& text, const std::string& what) {
  unsigned n = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) n += line.find(what) != std::string::npos;
  return n;
}

TEST(PausedRun, AtTheCycleLimitEveryRequestIsListedOldestFirst) {
  const Workspace w;
  for (const char* transport : {"fast", "at"}) {
    const Finished run = w.warpline({"run", in_source("sw/kernels/spmv.toml"), "--quiet", "--max-cycles",
                                     "700", "--transport", transport, "--stats", "out.json"});
    EXPECT_EQ(run.status, 3);
    const json all = json::parse(read_file(w.path("out.json")));
    const json& rows = all.at("in_flight");
    ASSERT_GT(rows.size(), 20U) << transport;
    EXPECT_THAT(run.err, AllOf(HasSubstr(std::to_string(rows.size()) + " requests in flight, oldest first"),
                               HasSubstr("and " + std::to_string(rows.size() - 20) + " more")));
    EXPECT_EQ(lines_with(run.err, " sector"), 20U);
    std::uint64_t before = 0;
    for (const json& row : rows) {
      ASSERT_TRUE(row.at("made").is_number());
      EXPECT_GE(row.at("made"), before);
      before = row.at("made");
      EXPECT_LE(before, 700U);
      for (const char* key : {"request", "holder", "at", "waits_for"})
        EXPECT_FALSE(row.at(key).get<std::string>().empty()) << key;
    }
    EXPECT_FALSE(all.at("waits").empty());
    EXPECT_TRUE(all.at("circle").empty()) << "a busy machine is no deadlock";
  }
}

TEST(PausedRun, LooselyTimedRequestsAreListedUntilTheyAreAnswered) {
  const Workspace w;
  const Finished run = w.warpline({"run", in_source("sw/kernels/spmv.toml"), "--quiet", "--max-cycles", "700",
                                   "--transport", "lt", "--stats", "out.json"});
  EXPECT_EQ(run.status, 3);
  EXPECT_FALSE(json::parse(read_file(w.path("out.json"))).at("in_flight").empty());
}

TEST(PausedRun, AFinishedRunHasNothingInFlight) {
  const Workspace w;
  ASSERT_EQ(w.warpline({"run", in_source("sw/kernels/vecadd.toml"), "--quiet", "--stats", "out.json"}).status,
            0);
  const json all = json::parse(read_file(w.path("out.json")));
  for (const char* key : {"in_flight", "waits", "circle"}) EXPECT_TRUE(all.at(key).empty()) << key;
}

TEST(PausedRun, AWarpThatSleepsIsSaidToAndUntilWhen) {
  const Workspace w;
  w.write("sleep.ptx",
          ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tnanosleep.u32 "
          "900000;\n\tret;\n}\n");
  w.write("sleep.toml", "module = \"sleep.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n");
  const Finished run = w.warpline({"run", "sleep.toml", "--quiet", "--max-cycles", "5000"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(
      run.err,
      AllOf(HasSubstr("is not done at the cycle limit of 5000; the last cycle in which anything moved"),
            HasSubstr("sm[0] warp 0 waits for cycle "), HasSubstr("until which it sleeps"),
            HasSubstr("sleep.ptx:7")));
}

TEST(PausedRun, WarpsThatOnlyRepeatThemselvesEndItAndTheFaultBehindThemIsNamed) {
  const Workspace w;
  w.write("wait.ptx",
          ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n.reg "
          ".b64 %d<3>;\n.reg .pred "
          "%p<3>;\n.shared .align 8 .b64 m;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 "
          "mbarrier.init.shared.b64 [m], 64;\n"
          "bar.sync 0;\nsetp.eq.u32 %p1, %r1, 35;\nmov.u64 %d1, 3;\n@%p1 st.global.u32 [%d1], 1;\n"
          "mbarrier.arrive.shared.b64 %d2, [m];\nL: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 "
          "bra L;\nret;\n}\n");
  w.write("wait.toml", "module = \"wait.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [64]\n");
  for (const char* transport : {"fast", "at", "lt"}) {
    const Finished run =
        w.warpline({"run", "wait.toml", "--quiet", "--transport", transport, "--stats", "out.json"});
    EXPECT_EQ(run.status, 3);
    EXPECT_THAT(
        run.err,
        AllOf(
            HasSubstr("kernel \"k\" is stuck: its warps repeat themselves"),
            HasSubstr("the first was: misaligned address in wait.ptx:16"),
            HasSubstr("sm[0] warp 0 waits for the mbarrier at 0x0 of shared memory: its phase lacks 32 of 64 "
                      "arrivals, again and again in wait.ptx:18")));
    EXPECT_EQ(json::parse(read_file(w.path("out.json"))).at("outcome"), "deadlocked");
  }
}

TEST(PausedRun, SignalsShowWhatIsInFlightAndOneOfThemStops) {
  const Workspace w;
  w.write("spin.toml", "module = \"" + in_source("tests/integration/data/misbehave.ptx") +
                           "\"\nkernel = \"spin\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n");
  const Finished run = w.signalled({"run", "spin.toml", "--quiet", "--stats", "out.json"}, {SIGUSR1, SIGINT},
                                   "who waits for what");
  EXPECT_EQ(run.status, 130);
  EXPECT_EQ(lines_with(run.err, "in cycle"), 2U) << run.err;
  EXPECT_EQ(lines_with(run.err, "sm[0] warp 0"), 2U) << "once for each signal\n" << run.err;
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  EXPECT_FALSE(json::parse(read_file(w.path("out.json"))).at("waits").empty());
}

}  // namespace standstill_test
}  // namespace warpline::test
