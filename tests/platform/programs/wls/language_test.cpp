// What instructions of .wls programs compute, load and store.
#include <gtest/gtest.h>

#include "tests/platform/programs/wls/wls_run.h"

namespace warpline::test {
namespace language_test {

/// Runs `text` and expects what it says itself.
void holds(const std::string& text) {
  const auto run = ran(text);
  const InspectionReport report = run->report();
  EXPECT_FALSE(report.comparisons.empty());
  for (const Comparison& c : report.comparisons) EXPECT_EQ(c.failure, "") << c.what;
}

TEST(WlsLanguage, Arithmetic) {
  holds(R"(
    .expect R10 = 12
    .expect R11 = -3
    .expect R12 = 0x50
    .expect R13 = 0
    .expect R14 = 0xfffffffe
    .expect R15 = 0x7ffffffe
    .expect R16 = 0x0f
    .expect R17 = 0xff
    .expect R18 = 0xf0
    .expect R19 = 22
    .expect R20 = 0
    .expect R21 = -1
    MOV R0, 5; MOV R1, 7; IADD R10, R0, R1; IADD R11, R0, -8;
    SHL R12, R0, 4; SHL R13, R0, 32;
    MOV R2, -4; SHR R14, R2, 1; SHR.U32 R15, R2, 1;
    MOV R3, 0x0f; LOP.AND R16, R3, 0x3f; LOP.OR R17, R3, 0xf0; LOP.XOR R18, R17, R3;
    IMAD R19, R0, 3, R1;
    IADD R20, RZ, RZ; MOV RZ, 5; IADD R20, R20, RZ; SHR R21, R2, 40;)");
}

TEST(WlsLanguage, WideProductsExtendTheirSign) {
  holds(R"(
    .expect R4 = -20
    .expect R5 = 9
    .expect R6 = 0xffffffec
    .expect R7 = 14
    MOV R0, -5; MOV R8, 0; MOV R9, 10;
    IMAD.WIDE R4, R0, 4, R8;             // 10 << 32 minus 20
    IMAD.WIDE.U32 R6, R0, 4, R8;         // 10 << 32 plus 4 * (2^32 - 5)
    IADD R7, R7, 1;)");
}

TEST(WlsLanguage, Comparisons) {
  holds(R"(
    .expect R4 = 0x2a
    .expect R5 = 0x16
    MOV R0, -1; MOV R1, 1; MOV R4, 0; MOV R5, 0;
    ISETP.EQ P0, R0, R1;  @P0 LOP.OR R4, R4, 1;
    ISETP.NE P0, R0, R1;  @P0 LOP.OR R4, R4, 2;
    ISETP.GT P0, R0, R1;  @P0 LOP.OR R4, R4, 4;
    ISETP.LT P0, R0, R1;  @P0 LOP.OR R4, R4, 8;
    ISETP.GE P0, R0, R1;  @P0 LOP.OR R4, R4, 16;
    ISETP.LE P0, R0, R1;  @P0 LOP.OR R4, R4, 32;
    ISETP.LT.U32 P1, R0, R1;  @P1 LOP.OR R5, R5, 1;
    ISETP.GT.U32 P1, R0, R1;  @P1 LOP.OR R5, R5, 2;
    ISETP.GE.U32 P2, R0, R1;  @P2 LOP.OR R5, R5, 4;
    ISETP.EQ PT, R0, R1;      @!PT LOP.OR R5, R5, 8;
    @!P0 LOP.OR R5, R5, 32;   @PT LOP.OR R5, R5, 16;)");
}

TEST(WlsLanguage, ThreadsKnowWhoTheyAre) {
  const auto run = ran(R"(
    .grid 3 2
    .block 5 4 2
    .global who 960
    .show R6
    S2R R0, SR_TID.X; S2R R1, SR_TID.Y; S2R R2, SR_TID.Z; S2R R3, SR_CTAID.X; S2R R4, SR_CTAID.Y;
    S2R R5, SR_NTID.X; S2R R6, SR_NTID.Y; S2R R7, SR_NCTAID.X;
    IMAD R8, R2, R6, R1; IMAD R8, R8, R5, R0;   // thread of the CTA
    IMAD R9, R4, R7, R3; IMAD R9, R9, 40, R8;   // of the grid
    MOV R10, who.lo; MOV R11, who.hi; IMAD.WIDE R10, R9, 4, R10;
    S2R R12, SR_WARPID; SHL R12, R12, 8; S2R R13, SR_LANEID; LOP.OR R12, R12, R13;
    ST.E [R10], R12;)");
  const auto who = run->words("who");
  for (unsigned n = 0; n < 240; ++n) ASSERT_EQ(who[n], (n % 40 / 32) << 8U | n % 40 % 32) << n;
  EXPECT_EQ(run->reg(6, 39), 4U);
}

TEST(WlsLanguage, SizesAndSigns) {
  holds(R"(
    .block 1
    .global data 16 = 0x818283f4, 0x05060708, 0x090a0b0c, 0x0d0e0f10
    .global out 32
    .expect R4 = 0xf4
    .expect R5 = 0xfffffff4
    .expect R6 = 0x83f4
    .expect R7 = 0xffff8182
    .expect R9 = 0x05060708
    .expect R13 = 0x0d0e0f10
    .expect out[0] = 0x0000f400
    .expect out[1] = 0x83f40000
    .expect out[2] = 0x818283f4
    .expect out[3] = 0x05060708
    .expect out[7] = 0x0d0e0f10
    MOV R2, data.lo; MOV R3, data.hi; MOV R16, out.lo; MOV R17, out.hi;
    LD.E.U8 R4, [R2]; LDG.E.S8 R5, [R2]; LD.E.U16 R6, [R2]; LD.E.S16 R7, [R2 + 2];
    LD.E.64 R8, [R2]; LD.E.128 R10, [R2];
    ST.E.U8 [R16 + 1], R4; STG.E.U16 [R16 + 6], R6; ST.E.64 [R16 + 8], R8;
    ST.E.128 [R16 + 16], R10;)");
}

TEST(WlsLanguage, AddressesFollowTheSeed) {
  holds(R"(
    .registers 10
    .local 256
    .expect R4 = 11
    .expect R5 = 22
    .expect R6 = 33
    .expect R7 = 22
    MOV R0, 0xfffffffc; MOV R1, 11; STL [0x20], R1; MOV R1, 22; STL [0x40], R1; MOV R1, 33; STL [0x60], R1;
    LDL R4, [R0 + 0x24];                 // a sum of 32 bits
    LDL R5, [RZ + 0x40];
    MOV R2, 0x64; LDL R6, [R2 - 4];
    LDL R7, [R200 + 0x40];               // beyond .registers: none
    )");
}

TEST(WlsLanguage, OffsetsReachBothEndsOfTheirThirtyTwoBits) {
  holds(R"(
    .block 1
    .global data 64 = 1, 2, 3
    .expect R4 = 2
    .expect R5 = 3
    .expect R6 = 1
    .expect R7 = 1
    MOV R0, data.lo; MOV R1, data.hi; MOV R10, 0x7fffffff; MOV R11, 0;
    IMAD.WIDE.U32 R2, R10, 1, R0; LD.E R4, [R2 + -0x7ffffffb];
    MOV R10, 0x80000000; IMAD.WIDE.U32 R2, R10, 1, R0; IADD R2, R2, 8; LD.E R5, [R2 - 0x80000000];
    MOV R10, -0x7fffffff; IMAD.WIDE R2, R10, 1, R0; LD.E R6, [R2 + 0x7fffffff];
    LD.E R7, [R0+-0];)");
}

/// The pair of R254 is R254 and RZ, which stays zero.
TEST(WlsLanguage, AddressesInTheLastRegisterLeaveZeroAlone) {
  for (const char* access : {"@!PT LD.E R2, [R254];", "CCTL.E.PF2 [R254];"})
    holds(
        ".block 1\n.expect R0 = 0\n.expect R1 = 7\n.local 64\nMOV R1, 7; STL [4], R1; MOV RZ, 16; LDL R1, "
        "[RZ + 4];\n"
        "IADD R0, RZ, 0; MOV R254, 0; " +
        std::string(access));
}

TEST(WlsLanguage, TextsOfOtherEditorsAreRead) {
  holds("\xEF\xBB\xBF.expect R1 = 3\r\n// \xC3\xA9\r\n\tMOV R1,\r\n\t3;\r\n");
}

TEST(WlsLanguage, ConstantsByNameAndBySlot) {
  WlsRun run(R"(
    .param first 4
    .param second 8
    .constant table 16 = 5, 6, 7, 8
    .show R4..R9
    MOV R0, 4;
    LDC R4, c[table]; LDC R5, c[table][R0 + 4]; LDC.64 R6, c[3][8]; LDC R8, c[first]; LDC.64 R9, c[second];
    MOV R11, table.lo; LDC R11, c[0][R11];)");
  std::vector<std::uint8_t> parameters(16);
  parameters[0] = 9;
  parameters[8] = 10;
  parameters[12] = 11;
  ASSERT_EQ(run.run(parameters).outcome, RunOutcome::quiescent);
  const std::uint32_t wanted[] = {5, 7, 7, 8, 9, 10};
  for (unsigned r = 0; r < 6; ++r) EXPECT_EQ(run.reg(4 + r), wanted[r]) << r;
}

/// CCTL.C.IVALL executes in dispatch, CCTL.U.IVALL goes through the load/store unit: both leave nothing in
/// the constant cache.
TEST(WlsLanguage, ConstantsAreFetchedAgainWhenInvalidated) {
  const auto misses = [](const std::string& between) {
    const auto run =
        ran(".block 1\n.constant table 16 = 5\n.show R1\nLDC R0, c[table]; NOP &req=0; IADD R0, R0, 0;" +
            between + " LDC R1, c[table]; IADD R1, R1, 0;");
    EXPECT_EQ(run->reg(1), 5U);
    Observed counters;
    run->platform().visit(counters);
    std::uint64_t sum = 0;
    for (const auto& [name, value] : counters.values)
      if (name.find(".constant.sector_misses") != std::string::npos) sum += value;
    return sum;
  };
  EXPECT_EQ(misses("NOP ?WAIT15; NOP ?WAIT15;"), 1U);
  EXPECT_EQ(misses("CCTL.C.IVALL ?WAIT15; NOP ?WAIT15;"), 2U);
  EXPECT_EQ(misses("@!PT CCTL.C.IVALL ?WAIT15; NOP ?WAIT15;"), 1U) << "no lane asks for it";
  EXPECT_EQ(misses("CCTL.U.IVALL;"), 2U);
  EXPECT_EQ(misses("CCTL.D.IVALL;"), 1U);
}

TEST(WlsLanguage, BarriersOrderWarps) {
  holds(R"(
    .block 128
    .global data 512
    .expect R8[0] = 97
    .expect R8[100] = 5
    S2R R0, SR_TID.X; MOV R2, data.lo; MOV R3, data.hi; IMAD.WIDE R4, R0, 4, R2;
    IADD R1, R0, 1; ST.E [R4], R1; MEMBAR.CTA; BAR.SYNC 3;
    IADD R6, R0, 96; LOP.AND R6, R6, 127; IMAD.WIDE R4, R6, 4, R2;
    LD.E R8, [R4]; IADD R8, R8, 0;
    ISETP.LT P0, R0, 100; @P0 EXIT; ISETP.EQ P0, R0, 100; @!P0 EXIT; IADD R8, R6, -63;)");
}

TEST(WlsLanguage, LanesMeetAgainBehindABranch) {
  const auto run = ran(R"(
    .global order 4096
    .show R5
    S2R R0, SR_LANEID; ISETP.LT P0, R0, 8; MOV R5, 0;
    @P0 BRA left;
    IADD R5, R5, 100;
    BRA join;
left:
    IADD R5, R5, 200;
join:
    IADD R5, R5, 1;)");
  EXPECT_EQ(run->reg(5, 7), 201U);
  EXPECT_EQ(run->reg(5, 8), 101U);
  // 3 + the branch, 2, 1, then the join and the exit: once for all lanes.
  Observed counters;
  run->platform().visit(counters);
  EXPECT_EQ(counters.values.at("sm[0].instructions") + counters.values.at("sm[1].instructions"), 9U);
}

TEST(WlsLanguage, LoopsRun) {
  holds(R"(
    .expect R1[0] = 0
    .expect R1[5] = 15
    .expect R1[31] = 496
    S2R R0, SR_LANEID; MOV R1, 0;
again:
    IADD R1, R1, R0; IADD R0, R0, -1; ISETP.GT P3, R0, 0; @P3 BRA again;)");
}

TEST(WlsLanguage, FaultsNameTheLine) {
  WlsRun run("MOV R0, 2;\n\nLD.E R1, [R0];\n");
  ASSERT_EQ(run.run().outcome, RunOutcome::quiescent);
  ASSERT_EQ(run.faults().size(), 1U);
  EXPECT_EQ(run.faults()[0].kind, "misaligned address");
  EXPECT_EQ(run.faults()[0].where, "test.wls:3");
}

TEST(WlsAddresses, VariablesLieWhereAddressesOf32BitsReachThem) {
  const auto run = ran(R"(
    .global first 256 = 7
    .global data 256 = 1, 2, 3
    .show R4..R7
    MOV R3, data.lo; MOV R4, data.hi; MOV R5, first.lo;
    CCTL.D.PF1 [R3 + 4];
    LD R6, [R3 + 8]; IADD R6, R6, 0; LDG R7, [0x10000000];)");
  EXPECT_EQ(run->reg(4), 0U);
  EXPECT_EQ(run->reg(5), 0x1000'0000U) << "the key wls_window, and nothing before it";
  EXPECT_EQ(run->reg(6), 3U);
  EXPECT_EQ(run->reg(7), 7U) << "absolute addresses reach them, too";
  Observed counters;
  run->platform().visit(counters);
  EXPECT_EQ(counters.values.at("sm[0].l1_lg.prefetched_sectors"), 4U);
  EXPECT_EQ(counters.values.at("sm[0].lsu.dropped_cctl"), 0U);
  EXPECT_FALSE(run->platform().unmapped_control());
  WlsRun far(".global data 256\n.show R4\nMOV R4, data.hi;", load_gpu("mini", {{"wls_window=0"}}).value());
  ASSERT_EQ(far.run().outcome, RunOutcome::quiescent);
  EXPECT_NE(far.reg(4), 0U) << "among the buffers, where no 32 bits reach";
}

TEST(WlsAddresses, CacheControlOfWhatIsNotMappedIsToldAndCounted) {
  const auto run = ran(R"(
    .global data 256
    MOV R3, data.lo; CCTL.D.WB [R3];
    CCTL.D.IV [0x104];
    CCTL.D.PF1 [0x1000];)");
  Observed counters;
  run->platform().visit(counters);
  EXPECT_EQ(counters.values.at("sm[0].lsu.dropped_cctl"), 64U);
  EXPECT_EQ(counters.values.at("sm[0].lsu.dropped_controls"), 64U);
  const auto dropped = run->platform().unmapped_control();
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->where, "test.wls:4");
  EXPECT_EQ(dropped->address, 0x104U);
  EXPECT_TRUE(run->faults().empty());
}

}  // namespace language_test
}  // namespace warpline::test
