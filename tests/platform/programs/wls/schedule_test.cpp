// Scoreboards and schedules: who waits for what, and what happens where nobody does.
#include <gtest/gtest.h>

#include "tests/platform/programs/wls/wls_run.h"

namespace warpline::test {
namespace schedule_test {

TEST(WlsSchedule, ARequirementGetsTheNewValue) {
  const auto run = ran(R"(
    .global data 128 = 42
    .show R4
    MOV R2, data.lo; MOV R3, data.hi; MOV R4, 7;
    LD.E R4, [R2] &wr=2;
    IADD R4, R4, 0 &req=0x04;)");
  EXPECT_EQ(run->reg(4), 42U);
}

/// A load with a scoreboard is awaited by `&req` and by nothing else.
TEST(WlsSchedule, WithoutARequirementTheOldValueIsRead) {
  const auto run = ran(R"(
    .global data 128 = 42
    .show R4..R6
    MOV R2, data.lo; MOV R3, data.hi; MOV R4, 7;
    LD.E R4, [R2] &wr=2;
    IADD R5, R4, 0;                      // too early
    IADD R6, R4, 0 &req=0x3b;            // waits for the others only
    IADD R4, R4, 0 &req=0x04;)");
  EXPECT_EQ(run->reg(5), 7U);
  EXPECT_EQ(run->reg(6), 7U);
  EXPECT_EQ(run->reg(4), 42U);
}

/// One without is awaited by whoever uses its register.
TEST(WlsSchedule, ALoadWithoutAScoreboardIsInterlocked) {
  const auto run = ran(R"(
    .global data 128 = 42
    .show R4..R6
    MOV R2, data.lo; MOV R3, data.hi; MOV R4, 7; MOV R6, 1;
    LD.E R4, [R2];
    IADD R5, R4, 0;
    LD.E R6, [R2];                       // shown: the exit waits for it)");
  EXPECT_EQ(run->reg(5), 42U);
  EXPECT_EQ(run->reg(6), 42U);
}

/// So is one with a scoreboard itself, which would be done first otherwise: local memory is at hand.
TEST(WlsSchedule, ALoadWithAScoreboardWaitsForOneWithoutIntoItsRegister) {
  const auto run = ran(R"(
    .local 16
    .global data 128 = 42
    .show R4
    MOV R2, data.lo; MOV R3, data.hi; MOV R4, 7;
    STL [0], R4;
    LD.E R4, [R2];
    LDL R4, [0] &wr=1;
    NOP &req=0x02;)");
  EXPECT_EQ(run->reg(4), 7U);
}

TEST(WlsSchedule, OneScoreboardServesSeveralLoads) {
  const auto run = ran(R"(
    .global data 4096 = 1
    .global far 128 = 2
    .show R8
    MOV R2, data.lo; MOV R3, data.hi; MOV R4, far.lo; MOV R5, far.hi;
    LD.E R6, [R2] &wr=5;
    LD.E R7, [R4] &wr=5;
    IADD R8, R6, R7 &req=0x20;)");
  EXPECT_EQ(run->reg(8), 3U);
}

TEST(WlsSchedule, WaitMovesTheNextIssueByExactlySoManyCycles) {
  for (unsigned n = 1; n <= 15; ++n) {
    const auto run = ran(".block 1\n.show R3\nMOV R2, 0; S2R R0, SR_CLOCKLO ?WAIT" + std::to_string(n) +
                         ";\nS2R R1, SR_CLOCKLO; IMAD R3, R0, -1, R1;");
    EXPECT_EQ(run->reg(3), n);
  }
}

/// The seed's schedules of what dispatch executes: ?WAIT5 at least, and by default.
TEST(WlsSchedule, AStackWriteBackWaitsFiveCycles) {
  const auto gap = [](const std::string& wait) {
    const auto run = ran(".block 1\n.show R3\nS2R R0, SR_CLOCKLO; CCTLL.CRS.WBALL" + wait +
                         "; S2R R1, SR_CLOCKLO; IMAD R3, R0, -1, R1;");
    return run->reg(3);
  };
  EXPECT_EQ(gap(""), 6U);
  EXPECT_EQ(gap(" ?WAIT5"), 6U);
  EXPECT_EQ(gap(" ?WAIT9"), 10U);
}

TEST(WlsSchedule, AnInvalidationOfInstructionsHasTheNextOnesFetchedAgain) {
  const auto gap = [](const std::string& fetches, const std::string& guard = {}) {
    WlsRun run(".block 1\n.show R3\nS2R R0, SR_CLOCKLO; " + guard +
                   "CCTL.I.IVALL; S2R R1, SR_CLOCKLO; IMAD R3, R0, -1, R1;",
               load_gpu("mini", {{"sm.fetch_instructions=" + fetches}}).value());
    EXPECT_EQ(run.run().outcome, RunOutcome::quiescent);
    Observed counters;
    run.platform().visit(counters);
    EXPECT_EQ(counters.values.at("sm[0].instruction.invalidations"), guard.empty() ? 1U : 0U);
    return run.reg(3);
  };
  EXPECT_EQ(gap("false"), 6U) << "?WAIT5";
  EXPECT_EQ(gap("true", "@!PT "), 6U) << "no lane asks for it";
  EXPECT_GE(gap("true"), 6U + 10U) << "and the latencies of the hops to L2 and back";
}

/// Stores and cache control read their operands when the load/store unit has them.
TEST(WlsSchedule, ReadScoreboardsAreHeldForTheIssueLatency) {
  for (const unsigned latency : {3U, 9U}) {
    const GpuConfig config = load_gpu("mini", {{"sm.issue_latency=" + std::to_string(latency)}}).value();
    for (const char* instruction : {"STL [0x10], R5", "CCTLL.WB [0x10]", "LDL R5, [0x10]"}) {
      WlsRun run(".block 1\n.local 32\n.show R3\nMOV R5, 1; NOP ?WAIT5; S2R R0, SR_CLOCKLO;\n" +
                     std::string(instruction) + " &rd=3;\nS2R R1, SR_CLOCKLO &req=0x08; IMAD R3, R0, -1, R1;",
                 config);
      ASSERT_EQ(run.run().outcome, RunOutcome::quiescent);
      EXPECT_EQ(run.reg(3), latency + 1) << instruction;
    }
  }
}

TEST(WlsSchedule, CacheControlHonoursARequirement) {
  const auto run = ran(R"(
    .block 1
    .global data 4096
    .show R6
    MOV R2, data.lo; MOV R3, data.hi; NOP ?WAIT5; S2R R0, SR_CLOCKLO;
    LD.E R5, [R2] &wr=0;
    CCTL.E.PF2 [R2 + 1024] &req=0x01;
    S2R R1, SR_CLOCKLO; IMAD R6, R0, -1, R1;)");
  EXPECT_GT(run->reg(6), 30U) << "a miss in every cache";
}

}  // namespace schedule_test
}  // namespace warpline::test
