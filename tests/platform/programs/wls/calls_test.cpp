// Calls and returns by tokens of the call-return stack, by the whole warp and by parts of it.
#include <gtest/gtest.h>

#include "tests/platform/programs/wls/wls_run.h"

namespace warpline::test {
namespace calls_test {

/// Runs `text` on one SM and returns the kind of its only fault, or nothing.
std::string fault_of(const std::string& text) {
  WlsRun run(text);
  EXPECT_EQ(run.run().outcome, RunOutcome::quiescent);
  if (run.faults().empty()) return {};
  return run.faults()[0].kind + " at " + run.faults()[0].where;
}

TEST(WlsCalls, ReturnToTheirCallers) {
  const auto run = ran(R"(
    .show R5
    MOV R5, 1; CAL f; IMAD R5, R5, 10, RZ; CAL f; CAL g; EXIT;
f:  IADD R5, R5, 1; RET;
g:  CAL f; IMAD R5, R5, 10, RZ; RET;)");
  EXPECT_EQ(run->reg(5, 31), 220U);
}

TEST(WlsCalls, RecursionBeyondTheCacheUsesTheBackingStore) {
  const auto run = ran(R"(
    .show R5..R7
    MOV R5, 0; MOV R6, 1500; CAL down; GETCRSPTR R7; EXIT;
down:
    IADD R6, R6, -1; ISETP.EQ P0, R6, 0; @P0 RET;
    CAL down;
    IADD R5, R5, 1; RET;)");
  EXPECT_EQ(run->reg(5), 1499U);
  EXPECT_EQ(run->reg(7), 0U);
}

TEST(WlsCalls, L1ReflectsTheTopOfTheStackWhateverHappenedToItsLine) {
  for (const char* const harm :
       {"CCTLL.RS [0x10];", "CCTLL.IV [0x10];", "MOV R8, 77; STL [0x10], R8;", "NOP;"}) {
    const auto run = ran(std::string(R"(
    .local 16
    .show R4..R7
    CAL f; EXIT;
f:  CCTLL.CRS.WBALL; LDL R4, [0x10]; CCTLL.WB [0x10];
    CAL g; MOV R7, 3; RET;
g:  CCTLL.CRS.WBALL; )") +
                         harm +
                         R"(
    CCTLL.CRS.WBALL; LDL R5, [0x10]; CCTLL.IVALL; LDL R6, [0x10]; RET;)");
    for (const unsigned lane : {0U, 1U, 2U}) {
      if (lane < 2) {
        EXPECT_EQ(run->reg(5, lane), run->reg(4, lane)) << harm;
      }
      EXPECT_EQ(run->reg(6, lane), run->reg(5, lane)) << harm << " and memory behind it";
    }
    EXPECT_EQ(run->reg(5, 0), 0x10U) << harm;
    EXPECT_EQ(run->reg(5, 3), 0xFFFFFFFFU) << harm << ": the second token's lanes";
    EXPECT_EQ(run->reg(7), 3U) << harm;
  }
}

TEST(WlsCalls, APartOfTheWarpMayCall) {
  // The lanes that do not call go on when the call has returned.
  const auto run = ran(R"(
    .show R5
    .show R6
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 4; MOV R5, 0; MOV R6, 0;
    @P0 CAL f;
    IADD R5, R5, 1; GETCRSPTR R6; EXIT;
f:  IADD R5, R5, 10; ISETP.EQ P1, R0, 2; @P1 CAL g; RET;
g:  IADD R5, R5, 100; RET;)");
  EXPECT_EQ(run->reg(5, 1), 11U);
  EXPECT_EQ(run->reg(5, 2), 111U);
  EXPECT_EQ(run->reg(5, 4), 1U);
  EXPECT_EQ(run->reg(6, 2), 0U);
}

TEST(WlsCalls, ACallReturnsWhenAllOfItsLanesHave) {
  const auto run = ran(R"(
    .show R5..R7
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 4; MOV R5, 0; MOV R7, 0;
    CAL f;
    IADD R7, R7, 1;                      // one more for each time that it is executed
    S2R R6, SR_CLOCKLO; EXIT;
f:  @P0 RET;
    IADD R5, R5, 10 ?WAIT9; CAL g; RET;
g:  @!P0 IADD R5, R5, 1; RET;)");
  EXPECT_EQ(run->reg(5, 0), 0U);
  EXPECT_EQ(run->reg(5, 9), 11U);
  EXPECT_EQ(run->reg(7, 0), 1U);
  EXPECT_EQ(run->reg(6, 0), run->reg(6, 31)) << "all lanes go on together";
}

TEST(WlsCalls, LanesThatExitInACallAreNotWaitedFor) {
  const auto run = ran(R"(
    .show R5
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 4; ISETP.LT P1, R0, 16; MOV R5, 0;
    @P1 CAL f;
    IADD R5, R5, 1; CAL h; EXIT;
f:  @P0 RET;                             // lanes 0 to 3 return, 4 to 15 exit
    EXIT;
h:  @P1 CAL all; IADD R5, R5, 10; RET;
all: EXIT;)");
  EXPECT_EQ(run->reg(5, 0), 1U);
  EXPECT_EQ(run->reg(5, 5), 0U);
  EXPECT_EQ(run->reg(5, 20), 11U) << "the token of a call whose lanes have all exited is passed over";
}

TEST(WlsCalls, BarriersWorkWithinCalls) {
  const auto run = ran(R"(
    .block 64
    .show R5
    S2R R0, SR_TID.X; MOV R5, 0; ISETP.LT P0, R0, 32;
    @P0 CAL f;
    @!P0 BAR.SYNC 1;
    IADD R5, R5, 1; EXIT;
f:  BAR.SYNC 1; IADD R5, R5, 10; RET;)");
  EXPECT_EQ(run->reg(5, 0), 11U);
  EXPECT_EQ(run->reg(5, 63), 1U);
}

/// While lanes of one call wait at a barrier the others may call, too: their token lies above, and each call
/// takes its own lanes back.
TEST(WlsCalls, PartsOfTheWarpMeetAtABarrierInDifferentCalls) {
  const auto run = ran(R"(
    .show R5
    .show R6
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 16; MOV R5, 0; MOV R6, 0;
    @P0 CAL f; IADD R6, R6, 1; @!P0 CAL g; IADD R6, R6, 1; GETCRSPTR R7; IADD R5, R5, R7; EXIT;
f:  BAR.SYNC 0; CAL h; RET;
g:  CAL h; BAR.SYNC 0; IADD R5, R5, 100; RET;
h:  IADD R5, R5, 10; RET;)");
  EXPECT_EQ(run->reg(5, 0), 10U);
  EXPECT_EQ(run->reg(5, 31), 110U);
  EXPECT_EQ(run->reg(6, 0), 2U);
  EXPECT_EQ(run->reg(6, 31), 2U);
}

TEST(WlsCalls, ACallMayReturnWhileOthersWaitInACallOfTheirOwn) {
  const auto run = ran(R"(
    .show R5..R7
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 16; MOV R5, 0;
    @!P0 BRA other;
    CAL wait; EXIT;
other:
    CAL one; GETCRSPTR R6; CAL deep; BAR.SYNC 2; IADD R5, R5, 1; CAL one; GETCRSPTR R7; EXIT;
wait: BAR.SYNC 2; IADD R5, R5, 1000; RET;
deep: CAL one; CAL one; RET;
one:  IADD R5, R5, 10; RET;)");
  EXPECT_EQ(run->reg(5, 0), 1000U);
  EXPECT_EQ(run->reg(5, 16), 41U);
  EXPECT_EQ(run->reg(6, 16), 1U) << "the token of those who wait";
  EXPECT_EQ(run->reg(7, 16), 0U) << "who have returned since";
}

TEST(WlsCalls, OnceTheOthersHaveExitedTheStackIsTheCallersAlone) {
  const auto run = ran(R"(
    .show R5
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 16; MOV R5, 0;
    @P0 CAL leave; @!P0 CAL stay; IADD R5, R5, 1; EXIT;
leave: BAR.SYNC 0; EXIT;
stay:  BAR.SYNC 0; BAR.SYNC 1; SETCRSPTR 2; CAL one; RET;
one:   IADD R5, R5, 10; RET;)");
  EXPECT_EQ(run->reg(5, 0), 0U);
  EXPECT_EQ(run->reg(5, 31), 11U);
}

TEST(WlsCalls, ReturnsUseTheTokenThatMemoryHolds) {
  // Token 0 is in lane 0 (address) and lane 1 (lanes) of the backing store; the program changes the address.
  const std::string text = R"(
    .local 16
    .show R5
    S2R R0, SR_LANEID; ISETP.EQ P0, R0, 0; MOV R5, 0;
    CAL f;
    MOV R5, 1; EXIT;
    NEW
f:  CCTLL.CRS.WBALL;
    SETCRSPTR 0;
    MOV R8, TOKEN; @P0 STL [16], R8;
    SETCRSPTR 1;
    RET;)";
  const auto with = [&](const std::string& token) {
    std::string t = text;
    t.replace(t.find("TOKEN"), 5, token);
    t.replace(t.find("NEW"), 3, "MOV R5, 2; EXIT;");
    return t;
  };
  EXPECT_EQ(ran(with("0x40"))->reg(5), 1U) << "as it was";
  EXPECT_EQ(ran(with("0x60"))->reg(5), 2U);
  EXPECT_EQ(fault_of(with("0x44")), "return to what is no address of the program at test.wls:12");
  EXPECT_EQ(fault_of(with("0x1000")), "return to what is no address of the program at test.wls:12");
  EXPECT_EQ(fault_of(with("-16")), "return to what is no address of the program at test.wls:12");
}

TEST(WlsCalls, Faults) {
  EXPECT_EQ(fault_of("RET;"), "return with an empty call-return stack at test.wls:1");
  EXPECT_EQ(fault_of("again:\nCAL again;"), "call-return stack overflow at test.wls:2");
  EXPECT_EQ(fault_of("SETCRSPTR 4097;"), "call-return stack overflow at test.wls:1");
  EXPECT_EQ(fault_of("SETCRSPTR 1;\nRET;"), "return to what is no address of the program at test.wls:2");
  EXPECT_EQ(fault_of("S2R R0, SR_LANEID;\nSETCRSPTR R0;"), "SETCRSPTR to several values at test.wls:2");
  EXPECT_EQ(fault_of("S2R R0, SR_LANEID; ISETP.EQ P0, R0, 0;\n@P0 SETCRSPTR 0;"),
            "SETCRSPTR by a part of the warp at test.wls:2");
  // Lane 1 of the backing store holds the lanes that called.
  EXPECT_EQ(fault_of("S2R R0, SR_LANEID; ISETP.EQ P0, R0, 1; CAL f; EXIT;\nf: CCTLL.CRS.WBALL; SETCRSPTR 0;\n"
                     "@P0 STL [0], R0; SETCRSPTR 1;\nRET;"),
            "return of other lanes than have called at test.wls:4");
}

TEST(WlsCalls, GetAndSetCountTokens) {
  const auto run = ran(R"(
    .show R4..R6
    GETCRSPTR R4; CAL f; EXIT;
f:  CAL g; RET;
g:  GETCRSPTR R5; SETCRSPTR 1; GETCRSPTR R6; RET;)");
  EXPECT_EQ(run->reg(4), 0U);
  EXPECT_EQ(run->reg(5), 2U);
  EXPECT_EQ(run->reg(6), 1U);
}

TEST(WlsCalls, SeveralWarpsHaveStacksOfTheirOwn) {
  const auto run = ran(R"(
    .block 256
    .show R5
    S2R R0, SR_WARPID; IADD R6, R0, 20; IMAD R6, R6, 3, RZ; MOV R5, 0; CAL down; EXIT;
down:
    IADD R6, R6, -1; ISETP.EQ P0, R6, 0; @P0 RET;
    CAL down; IADD R5, R5, 1; RET;)");
  for (unsigned w = 0; w < 8; ++w) EXPECT_EQ(run->reg(5, w * 32), (w + 20) * 3 - 1);
}

}  // namespace calls_test
}  // namespace warpline::test
