// Illegal texts: each fault where it stands, all of a text at once, and never a crash.
#include <gtest/gtest.h>

#include "platform/programs/wls/module.h"
#include "rtl_models/base/random.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace diagnostics_test {

struct Case {
  const char* text;
  unsigned line, column;
  const char* message;  ///< a part of it
  const char* hint;     ///< likewise
};

class WlsDiagnostic : public ::testing::TestWithParam<Case> {};

TEST_P(WlsDiagnostic, StandsWhereTheFaultIs) {
  const Case& c = GetParam();
  const auto parsed = wls::parse(c.text, "x.wls");
  ASSERT_FALSE(parsed.ok()) << c.text;
  ASSERT_EQ(parsed.faults().size(), 1U) << parsed.faults()[1].text();
  const Diagnostic& d = parsed.faults()[0];
  EXPECT_EQ(d.file, "x.wls");
  EXPECT_EQ(d.line, c.line) << d.text();
  EXPECT_EQ(d.column, c.column) << d.text();
  EXPECT_NE(d.message.find(c.message), std::string::npos) << d.text();
  EXPECT_NE(d.hint.find(c.hint), std::string::npos) << d.text();
}

const Case kCases[] = {
    {"", 1, 1, "no instruction", ""},
    {"MOVE R0, 1;", 1, 1, "'MOVE' is no instruction", "'MOV'"},
    {"mov R0, 1;", 1, 1, "'mov' is no instruction", "'MOV'"},
    {"NOP;\n  IADD R0, R1;", 2, 14, "expected ','", ""},
    {"IADD R0, R1, R2", 1, 16, "expected ';'", ""},
    {"IADD R0, R1, R255;", 1, 14, "neither a register", "R0 to R254"},
    {"IADD R0, R1, 4294967296;", 1, 14, "does not fit 32 bits", ""},
    {"IADD R0, R1, 0x1g;", 1, 14, "is no number", ""},
    {"IADD.X R0, R1, R2;", 1, 5, "takes no '.X'", ""},
    {"MOV R0, data.lo;", 1, 9, "no variable 'data'", ""},
    {".global data 4\nMOV R0, dta.lo;", 2, 9, "no variable 'dta'", "'data'"},
    {".global data 4\nMOV R0, data;", 2, 9, "neither a register nor half of an address", "NAME.lo"},
    {".global data 4\nLDC R0, c[data];", 2, 11, "lies in global memory", "LD.E"},
    {".param n\nMOV R0, n.lo;", 2, 9, "is a parameter", "c[NAME]"},
    {"loop: NOP;\nBRA lop;", 2, 5, "no label 'lop'", "'loop'"},
    {"a: NOP;\na: NOP;", 2, 1, "a second time", ""},
    {"@P7 NOP;", 1, 2, "no predicate", "P0 to P6"},
    {"ISETP P0, R0, R1;", 1, 1, "needs a comparison", ".EQ"},
    {"LOP R0, R1, R2;", 1, 1, "needs an operation", "LOP.AND"},
    {"S2R R0, SR_TIDX;", 1, 9, "no special register", "SR_TID.X"},
    {"LD.E.48 R0, [R2];", 1, 5, "'.48'", "'.U8'"},
    {"LD.WT R0, [R2];", 1, 3, "'.WT'", ""},
    {"LDL.E R0, [R2];", 1, 4, "'.E'", ""},
    {"LD R0, R2;", 1, 8, "expected '['", ""},
    {"LD R0, [P2];", 1, 9, "expected an address register", "[R2 + 4]"},
    {"LD.128 R252, [R2];", 1, 8, "beyond R254", ""},
    {"LDC R0, d[0][4];", 1, 9, "constant address", "c[slot]"},
    {"LDC R0, c[18][4];", 1, 11, "0 to 17", ""},
    {"BAR.SYNC 16;", 1, 10, "0 to 15", ""},
    {"MEMBAR;", 1, 1, "needs a scope", ".GL"},
    {"NOP &req=0x40;", 1, 10, "0 to 63", ""},
    {"LD R0, [R2] &wr=6;", 1, 17, "0 to 5", ""},
    {"ST [R2], R0 &wr=1;", 1, 14, "belongs to loads", ""},
    {"NOP &rd=1;", 1, 6, "read their operands late", ""},
    {"NOP &rq=1;", 1, 6, "no scoreboard field", "'req'"},
    {"NOP ?WAIT16;", 1, 6, "?WAIT1 to ?WAIT15", ""},
    {"NOP ?WAIT0;", 1, 6, "?WAIT1 to ?WAIT15", ""},
    {"NOP ?WAIT2 ?WAIT2;", 1, 13, "a second time", ""},
    {"NOP #;", 1, 5, "belongs to no instruction", ""},
    {"NOP; /* never closed", 1, 6, "never closed", ""},
    {".registers 4\nMOV R4, 1;", 2, 5, "beyond the 4", ".registers"},
    {".registers 4\nLD.64 R3, [R9];", 2, 7, "R4 lies beyond", ".registers"},
    {".grid 0\nNOP;", 1, 7, "1 to 2147483647", ""},
    {".block 64 32\nNOP;", 1, 1, "1024 threads", ""},
    {".blok 64\nNOP;", 1, 1, "no directive", "'.block'"},
    {".global x 6\nNOP;", 1, 11, "multiple of 4", ""},
    {".global x 4 = 1, 2\nNOP;", 1, 18, "1 words only", ""},
    {".global R1 4\nNOP;", 1, 9, "is a register", ""},
    {".global x 4\n.constant x 4\nNOP;", 2, 11, "declared a second time", ""},
    {".param x 6\nNOP;", 1, 10, "4 or 8 bytes", ""},
    {".global data 8\n.show dat\nNOP;", 2, 7, "no variable 'dat'", "'data'"},
    {".global data 8\n.expect data[2] = 1\nNOP;", 2, 9, "words 0 to 1", ""},
    {".expect R1[1024] = 1\nNOP;", 1, 12, "0 to 1023", ""},
    {".show R0..R16\nNOP;", 1, 7, "16 registers", ".global"},
    {".constant k 4\n.show k\nNOP;", 2, 7, "constant memory", ""},
    {".local 8 8\nNOP;", 1, 10, "nothing else stands", ""},
    {"NOP; CCTL.C.IV [0];", 1, 12, "this cache has no such operation", ""},
    {"NOP; @P1 CCTLL.WB [R1 + 0x1000000];", 1, 23, "24 signed bits", ""},
    {"NOP;\n/* a\n b */ CCTL.QRY1 [R1];", 3, 11, "not implemented", ""},
    {"CCTL.D.IV [R1 + 4]", 1, 19, "expected ';'", ""},
    {"LD R0, [R2 + 0x80000000];", 1, 12, "32 signed bits", ""},
    {"LD.E R0, [R2 - 2147483649];", 1, 14, "32 signed bits", ""},
    {"LD.E R0, [R2 + -0x80000001];", 1, 14, "32 signed bits", ""},
    {"LD R0, [-4];", 1, 9, "unsigned", ""},
    {"LD R0, [4294967296];", 1, 9, "does not fit 32 bits", ""},
    {".entry\nNOP;", 1, 1, "'.entry' wants something on its line", ""},
    {"NOP;\n.show", 2, 1, "'.show' wants something on its line", ""},
    {".block 32\n4\nNOP;", 2, 1, "an instruction, a label or a directive", ""},
    {".grid 2\n.grid 3\nNOP;", 2, 1, "'.grid' stands here a second time", ""},
    {".registers 9\nNOP;\n  .registers 9\n", 3, 3, "a second time", ""},
    {"NOP; \xC3\xA9", 1, 6, "belongs to no instruction", ""},
    {"\xEF\xBB\xBFNOP; MOVE R0, 1;", 1, 6, "'MOVE'", "'MOV'"},
    {"NOP;\r\n\tBRA x;\r\n", 2, 6, "no label 'x'", ""},
};

INSTANTIATE_TEST_SUITE_P(Texts, WlsDiagnostic, ::testing::ValuesIn(kCases));

TEST(WlsDiagnostics, AllAtOnce) {
  const auto parsed = wls::parse(
      "MOVE R0, 1;\nCCTL.X.IV [R1];\nIADD R0 R1, 2; NOP; BRA nowhere;\n.show q\nLD R0, [R1;\n", "x.wls");
  ASSERT_FALSE(parsed.ok());
  std::vector<unsigned> lines;
  for (const Diagnostic& d : parsed.faults()) lines.push_back(d.line);
  EXPECT_EQ(lines, (std::vector<unsigned>{1, 2, 3, 3, 4, 5}));
}

/// The first faults are shown; looking for near names stops with them.
TEST(WlsDiagnostics, LargeTextsOfFaultsAreRefusedSoon) {
  std::string jumps = "NOP;\n";
  for (unsigned n = 0; n < 60000; ++n)
    jumps += "from" + std::to_string(n) + ": BRA to" + std::to_string(n) + ";\n";
  EXPECT_EQ(wls::parse(jumps, "x.wls").faults().size(), 20U);
  std::string names;
  for (unsigned n = 0; n < 5000; ++n) names += ".global v" + std::to_string(n) + " 4\n";
  const auto many = wls::parse(names + "NOP;", "x.wls");
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.faults()[0].line, 4097U);
  EXPECT_NE(many.faults()[0].message.find("4096 variables"), std::string::npos);
  std::string large;
  for (unsigned n = 0; n < 65; ++n) large += ".global v" + std::to_string(n) + " 16777216\n";
  const auto all = wls::parse(large + "NOP;", "x.wls");
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.faults()[0].line, 65U);
  EXPECT_NE(all.faults()[0].message.find("1 GiB"), std::string::npos);
}

/// Whatever the bytes, parsing ends with a program or with faults that have places. WARPLINE_DAMAGED_TEXTS:
/// how many.
TEST(WlsDiagnostics, DamagedTextsAreRefusedOrRead) {
  const std::string sound =
      ".entry k\n.grid 2\n.block 64\n.registers 32\n.local 64\n.global data 64 = 1, -2, 0x3\n.constant t "
      "8\n.param p 8\n"
      ".show data\n.show R4..R7\n.expect data[0..3] = 5\n.expect R4 = 1\n"
      "a: @!P1 LD.E.CG.64 R4, [R2 + 0x10] &req=0x3f &wr=0 &rd=1 ?WAIT3; /* c */ LDC R6, c[t][R1 - 4]; // d\n"
      "MOV R2, data.lo; IMAD.WIDE.U32 R2, R0, 4, R2; ISETP.LT.U32 P2, R0, -7; @P2 BRA a; CAL b; EXIT;\n"
      "b: CCTL.E.D.IV [R2 + 8] &rd=0; CCTLL.CRS.WBALL; SETCRSPTR 0; GETCRSPTR R9; LDC R1, c[p]; RET;\n";
  ASSERT_TRUE(wls::parse(sound, "x.wls").ok()) << wls::parse(sound, "x.wls").faults()[0].text();
  const std::uint64_t count = from_environment("WARPLINE_DAMAGED_TEXTS", 2500);
  Random random(7);
  std::uint64_t refused = 0;
  for (std::uint64_t n = 0; n < count; ++n) {
    std::string text = sound;
    for (std::uint64_t times = 1 + random.below(3); times != 0 && !text.empty(); --times) {
      const std::size_t at = random.below(text.size());
      const std::size_t length = random.below(12);
      const std::string piece = text.substr(random.below(text.size()), length);
      switch (random.below(4)) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, piece); break;
        case 2: text.replace(at, std::min(length, text.size() - at), piece); break;
        default: text[at] = static_cast<char>(random.below(256));
      }
    }
    const auto parsed = wls::parse(text, "x.wls");
    if (parsed.ok()) continue;
    ++refused;
    ASSERT_FALSE(parsed.faults().empty());
    for (const Diagnostic& d : parsed.faults()) {
      ASSERT_GE(d.line, 1U) << text;
      ASSERT_FALSE(d.message.empty()) << text;
      ASSERT_FALSE(d.text().empty());
    }
  }
  EXPECT_GT(refused, count / 4);
}

}  // namespace diagnostics_test
}  // namespace warpline::test
