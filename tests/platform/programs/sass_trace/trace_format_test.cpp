// Instruction lines in every version of the format, address modes, and faults in the body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/programs/sass_trace/line_cursor.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_format_test {

using ::testing::HasSubstr;

/// The fault that a trace text leads to, as a user sees it; empty if there is none.
std::string fault_of(const std::string& text) {
  try {
    play(text);
  } catch (const InputError& e) {
    return e.diagnostic.text();
  }
  return {};
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string fault_of_line(const std::string& line) {
  TraceText t;
  t.body = block_of({line});
  return fault_of(t.text());
}

std::vector<std::uint64_t> addresses(const Executed& e) {
  std::vector<std::uint64_t> out;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if ((e.accessed >> lane & 1U) != 0) out.push_back(e.address[lane]);
  return out;
}

TEST(TraceVersions, FiveHasImmediatesAndNoPosition) {
  const auto all = play_lines({"00f0 ffffffff 0 STG.E 2 R6 R9 4 1 0x7fb0fc461c00 4 0"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].instruction.pc, 0xF0U);
  EXPECT_EQ(all[0].active, 0xFFFFFFFFU);
  EXPECT_EQ(all[0].address[31], 0x7fb0fc461c7cU);
}

TEST(TraceVersions, FourIsLikeFive) {
  TraceText t;
  t.extra = "-accelsim tracer version = 4\n";
  t.body = block_of({"00f0 ffffffff 0 STG.E 2 R6 R9 4 1 0x7fb0fc461c00 4 0 "});
  EXPECT_EQ(play(t.text()).size(), 1U);
}

TEST(TraceVersions, ThreeHasNoImmediate) {
  TraceText t;
  t.extra = "-accelsim tracer version = 3\n";
  t.body = block_of({"00f0 ffffffff 0 STG.E 2 R6 R9 4 1 0x7fb0fc461c00 4", "0100 00000003 0 EXIT 0 0"});
  const auto all = play(t.text());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].address[1], 0x7fb0fc461c04U);
  t.body = block_of({"00f0 ffffffff 0 STG.E 2 R6 R9 4 1 0x7fb0fc461c00 4 0"});
  EXPECT_THAT(fault_of(t.text()), HasSubstr("expected the end of the line, found '0'"));
}

TEST(TraceVersions, TwoAndOneNameBlockAndWarpOnEveryLine) {
  for (const char* version : {"-accelsim tracer version = 2\n", "-accelsim tracer version = 1\n", ""}) {
    TraceText t;
    t.block = "(64,1,1)";
    t.extra = version;
    t.body = block_of({"0 0 0 1 00f0 ffffffff 0 STG.E 2 R6 R9 4 1 0x7fb0fc461c00 4"}, "0,0,0", 1);
    const auto all = play(t.text());
    ASSERT_EQ(all.size(), 1U) << version;
    EXPECT_EQ(all[0].warp, 1U);
    EXPECT_EQ(all[0].address[2], 0x7fb0fc461c08U);
    t.body = block_of({"0 0 0 0 00f0 ffffffff 0 STG.E 2 R6 R9 4 1 0x7fb0fc461c00 4"}, "0,0,0", 1);
    EXPECT_THAT(fault_of(t.text()), HasSubstr("the warp differs from the heading above, which says 1"))
        << version;
  }
}

TEST(TraceVersions, LineNumbersComeFirstWhereTheHeaderSaysSo) {
  TraceText t;
  t.body = block_of({"17 00f0 00000001 0 STG.E 2 R6 R9 4 2 0x7fb0fc461c00 0"});
  std::string text = t.text();
  text.replace(text.find("lineinfo = 0"), 12, "lineinfo = 1");
  const auto all = play(text);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].instruction.pc, 0xF0U);
}

TEST(TraceNumbers, EightHexadecimalDigitsAreReadAtOnce) {
  std::uint64_t value = 0;
  EXPECT_TRUE(sass::eight_hex_digits("0189aFfA", value));
  EXPECT_EQ(value, 0x0189AFFAU);
  for (unsigned place = 0; place < 8; ++place)
    for (unsigned c = 0; c < 256; ++c) {
      std::string text = "7f3b09Ec";
      text[place] = static_cast<char>(c);
      ASSERT_EQ(sass::eight_hex_digits(text.data(), value), sass::kHexDigits[c] < 16) << place << ' ' << c;
      if (sass::kHexDigits[c] < 16) {
        ASSERT_EQ(value, std::stoull(text, nullptr, 16));
      }
    }
}

// Lines that read as they did the last time are told by their text; what else they say is their own.
TEST(TraceLoops, EachPassHasItsOwnMaskAddressesAndImmediate) {
  std::vector<std::string> lines;
  for (unsigned pass = 0; pass < 12; ++pass) {
    const std::string mask = pass % 4 == 3 ? "00000003" : "0000000f";
    lines.push_back(" 0000 " + mask + " 1 R1 LDG.E 1 R2 4 1 0x" + std::to_string(pass) + "000 " +
                    std::to_string(4 + pass) + " 0");
    lines.push_back("0010 " + mask + " 0 BAR.SYNC 0 0 " + std::to_string(pass % 3));
    if (pass % 5 == 4) lines.push_back("0018 0000000f 0 NOP 0 0 0");
  }
  const auto all = play_lines(lines);
  ASSERT_EQ(all.size(), lines.size());
  for (unsigned pass = 0, at = 0; pass < 12; ++pass) {
    const Executed& load = all[at++];
    EXPECT_EQ(load.active, pass % 4 == 3 ? 3U : 15U) << pass;
    EXPECT_EQ(load.address[1], std::stoull(std::to_string(pass) + "000", nullptr, 16) + 4 + pass) << pass;
    EXPECT_EQ(all[at++].instruction.pc, 0x10U);
    if (pass % 5 == 4) {
      EXPECT_EQ(all[at++].instruction.pc, 0x18U);
    }
  }
}

TEST(TraceLoops, ABaseAddressIsReadWhateverItsLength) {
  const std::string digits = "fEdCba9876543210";
  std::vector<std::string> lines;
  for (unsigned pass = 0; pass < 3; ++pass)
    for (unsigned n = 1; n <= digits.size(); ++n)
      lines.push_back("0000 fffffff0 1 R1 LDG.E 1 R2 4 1 0x" + digits.substr(0, n) + " -8 0");
  const auto all = play_lines(lines);
  ASSERT_EQ(all.size(), lines.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i].address[5], std::stoull(digits.substr(0, i % digits.size() + 1), nullptr, 16) - 8) << i;
}

TEST(TraceLoops, AFaultIsFoundInAnyPass) {
  const std::string before = "0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x", behind = " 4 0";
  const auto fault_behind = [&](std::vector<std::string> lines, const std::string& wrong) {
    lines.push_back(wrong);
    TraceText t;
    t.body = block_of(lines);
    try {
      play(t.text());
    } catch (const InputError& e) {
      return std::to_string(e.diagnostic.column) + ": " + e.diagnostic.message;
    }
    return std::string();
  };
  const std::vector<std::string> right = {before + "7fb0fc461c00" + behind, before + "40" + behind,
                                          before + "80" + behind};
  for (const char* base :
       {"", "g000", "7fb0fc461c0g", "7fb0fc46g000", "10000000000000000", "7fb0fc 461c00"}) {
    const std::string wrong = before + base + behind;
    EXPECT_NE(fault_behind(right, wrong), "") << base;
    EXPECT_EQ(fault_behind(right, wrong), fault_behind({}, wrong)) << base;
  }
}

TEST(TraceAddresses, ModeZeroListsEachActiveLane) {
  const auto all = play_lines({"0000 80000101 1 R1 LDG.E 1 R2 4 0 0x1000 0x2000 0x3000 0"});
  EXPECT_EQ(all[0].accessed, 0x80000101U);
  EXPECT_EQ(all[0].address[0], 0x1000U);
  EXPECT_EQ(all[0].address[8], 0x2000U);
  EXPECT_EQ(all[0].address[31], 0x3000U);
}

TEST(TraceAddresses, ModeOneStartsAtTheFirstActiveLane) {
  const auto all = play_lines({"0000 000000f0 1 R1 LDG.E 1 R2 4 1 0x1000 -8 0"});
  EXPECT_EQ(addresses(all[0]), (std::vector<std::uint64_t>{0x1000, 0xFF8, 0xFF0, 0xFE8}));
  EXPECT_EQ(all[0].address[4], 0x1000U);
}

TEST(TraceAddresses, ModeTwoCountsFromThePreviousActiveLane) {
  const auto all = play_lines({"0430 00000707 1 R18 LDG.E.CONSTANT 1 R18 4 2 0x7f991e401604 0 0 16 0 0 0",
                               "0440 00000010 1 R18 LDG.E 1 R18 4 2 0x7f991e401604 0"});
  EXPECT_EQ(addresses(all[0]), (std::vector<std::uint64_t>{0x7f991e401604, 0x7f991e401604, 0x7f991e401604,
                                                           0x7f991e401614, 0x7f991e401614, 0x7f991e401614}));
  EXPECT_EQ(all[0].address[8], 0x7f991e401614U);
  EXPECT_EQ(all[1].address[4], 0x7f991e401604U);
}

TEST(TraceAddresses, OfAnInstructionThatNoLaneExecutesAreIgnored) {
  const auto all = play_lines({"1f20 00000000 1 R20 LDG.E.STRONG.SYS 1 R20 4 1 0x0 0 0"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].active, 0U);
  EXPECT_EQ(all[0].accessed, 0U);
  EXPECT_EQ(all[0].instruction.mem.scope, Scope::sys);
}

TEST(TraceAddresses, AreTranslatedToTheWindowsOfThePlatform) {
  const auto all = play_lines(
      {"0000 00000003 1 R1 LDS 1 R2 4 1 0x18 56 0",         // an offset already
       "0010 00000001 1 R1 LDS 1 R2 4 2 0x7fb139000020 0",  // in the header's shared window
       "0020 00000001 1 R1 LDL 1 R2 4 2 0x7fb137fffda0 0",  // the stack at the top of the local window
       "0030 00000003 1 R1 LD.E 1 R2 4 0 0x7fb139000020 0x1000 0",  // generic, two spaces
       "0040 00000001 1 R1 LD.E 1 R2 4 2 0x7fb137fffda0 0", "0050 00000003 1 R1 LD.E 1 R2 4 1 0x1000 4 0"});
  EXPECT_EQ(addresses(all[0]), (std::vector<std::uint64_t>{0x18, 0x50}));
  EXPECT_EQ(addresses(all[1]), (std::vector<std::uint64_t>{0x20}));
  EXPECT_EQ(addresses(all[2]), (std::vector<std::uint64_t>{0x3DA0}));
  EXPECT_EQ(all[3].instruction.mem.space, Space::generic);
  EXPECT_EQ(addresses(all[3]), (std::vector<std::uint64_t>{AddressWindows::kSharedBase + 0x20, 0x1000}));
  EXPECT_EQ(addresses(all[4]), (std::vector<std::uint64_t>{AddressWindows::kLocalBase + 0x3DA0}));
  EXPECT_EQ(all[5].instruction.mem.space, Space::global) << "all lanes are known to be global";
}

TEST(TraceFaults, InALineNameThePlace) {
  const std::string fault = fault_of_line("0000 ffffffff 1 R300 MOV 0 0 0");
  EXPECT_THAT(
      fault,
      HasSubstr("kernel-1.traceg:21:17: error: expected a destination register (R0 to R255), found 'R300'"));
  EXPECT_THAT(fault, HasSubstr("21 | 0000 ffffffff 1 R300 MOV 0 0 0\n"));
  EXPECT_THAT(fault, HasSubstr("                ^~~~"));
}

TEST(TraceFaults, EveryPartOfALineIsChecked) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"xyz ffffffff 0 NOP 0 0 0", "a program counter in hexadecimal"},
      {"123456789 ffffffff 0 NOP 0 0 0", "a program counter is out of range"},
      {"0000 1ffffffff 0 NOP 0 0 0", "an active mask is out of range"},
      {"0000 ffffffff 99 NOP 0 0 0", "a destination count is out of range"},
      {"0000 ffffffff 0 1234 0 0 0", "expected an opcode"},
      {"0000 ffffffff 0 NOP 0 3 0", "a width is 0, 1, 2, 4, 8, 16 or 32 bytes"},
      {"0000 ffffffff 0 NOP 0 0", "the line ends where an immediate should stand"},
      {"0000 ffffffff 0 NOP 0 0 x", "an immediate as a number"},
      {"0000 ffffffff 1 R1 LDG.E 1 R2 4 3 0x0 0", "address modes are 0, 1 and 2"},
      {"0000 ffffffff 1 R1 LDG.E 1 R2 4 0 0x0 0x4 0", "a"},
      {"0000 00000005 1 R1 LDG.E 1 R2 4 1 0x0 4 0", "contiguous active lanes"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4 1 0x0 99999999999999999999 0", "a stride does not fit in 64 bits"},
      {"0000 00000003 1 R1 LDG.E 1 R2 4 1 0x0 9223372036854775807 0", "the stride is out of range"},
      {"0000 00000003 1 R1 LDG.E 1 R2 0 0", "needs addresses"},
      {"0000 ffffffff 0 BAR.SYNC 0 0 -1", "a barrier is numbered 0 to 15"},
  };
  for (const auto& [line, message] : cases) EXPECT_THAT(fault_of_line(line), HasSubstr(message)) << line;
}

TEST(TraceFaults, LanesThatTheWarpDoesNotHave) {
  TraceText t;
  t.block = "(40,1,1)";
  t.body = block_of({"0000 000001ff 0 NOP 0 0 0"}, "0,0,0", 1);
  EXPECT_THAT(fault_of(t.text()), HasSubstr("the mask names lanes that this warp does not have"));
  t.body = block_of({"0000 000000ff 0 NOP 0 0 0"}, "0,0,0", 1);
  EXPECT_EQ(fault_of(t.text()), "");
  // A warp before has them, and has executed the same.
  const std::string same = "0000 ffffffff 0 NOP 0 0 0\n";
  t.body = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 3\n" + same + same + same +
           "warp = 1\ninsts = 1\n" + same + "#END_TB\n";
  EXPECT_THAT(fault_of(t.text()), HasSubstr("the mask names lanes that this warp does not have"));
}

TEST(TraceFaults, AbsurdCountsAreMessages) {
  TraceText t;
  t.body =
      "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 99999999999\n0000 ffffffff 0 NOP 0 0 0\n#END_TB\n";
  EXPECT_THAT(fault_of(t.text()), HasSubstr("has 1 instructions, but its 'insts' says 99999999999"));
  t.body = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\n0000 ffffffff 0 NOP 0 0 0\n#END_TB\n";
  EXPECT_THAT(fault_of(t.text()), HasSubstr("does an 'insts = ' above say less than there are?"));
  t.body = block_of({}, "0,0,0", 1);
  EXPECT_THAT(fault_of(t.text()), HasSubstr("a warp number is out of range"));
  t.body = block_of({}, "0,1,0");
  EXPECT_THAT(fault_of(t.text()), HasSubstr("the thread block lies outside the grid (1,1,1)"));
  t.body = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\nwarp = 0\ninsts = 0\n#END_TB\n";
  EXPECT_THAT(fault_of(t.text()), HasSubstr("warp 0 appears twice in thread block 0,0,0"));
  t.body = block_of({std::string(70000, 'a')});
  EXPECT_THAT(fault_of(t.text()), HasSubstr("the line is longer than 65536 characters"));
}

TEST(TraceFaults, TooFewAndTooManyThreadBlocks) {
  TraceText t;
  t.grid = "(3,1,1)";
  t.body = block_of({}, "0,0,0") + block_of({}, "1,0,0");
  EXPECT_THAT(fault_of(t.text()), HasSubstr("the trace holds 2 thread blocks, but its grid has 3"));
  t.body += block_of({}, "2,0,0");
  EXPECT_EQ(fault_of(t.text()), "");
  EXPECT_THAT(fault_of(changed(t.text(), "thread block = 2,0,0", "thread block = 1,0,0")),
              HasSubstr("thread block 1,0,0 appears twice"));
  t.body += block_of({}, "2,0,0");
  EXPECT_THAT(fault_of(t.text()), HasSubstr("goes on after the 3 thread blocks of its grid"));
}

TEST(TraceFaults, TruncationAnywhereIsAMessage) {
  TraceText t;
  t.body = block_of({"0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x1000 4 0"});
  const std::string text = t.text();
  const std::size_t body = text.find("#BEGIN_TB");
  const std::size_t last = text.rfind("#END_TB") + 6;
  for (std::size_t n = body; n < last; ++n) EXPECT_NE(fault_of(text.substr(0, n)), "") << n;
}

TEST(TraceFormat, ARawTraceIsCalledSo) {
  TraceText t;
  t.body = "0 0 0 0 0008 ffffffff 1 R1 IMAD.MOV.U32 1 R2 0\n";
  const TemporaryFile file("kernel-1.traceg", t.text());
  const auto kernel = sass::open_trace(file.path());
  ASSERT_TRUE(kernel.ok());
  Player player(*kernel.value());
  try {
    player.run();
    ADD_FAILURE() << "it ran";
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostic.message,
              "this is a raw trace, whose instructions are not grouped by thread block");
    EXPECT_NE(e.diagnostic.hint.find("post-traces-processing"), std::string::npos);
  }
  for (const char* name :
       {"kernelslist", "a/kernelslist", "kernel-1.trace", "kernel-12.trace.xz", "x.trace.gz"})
    EXPECT_TRUE(sass::is_raw_trace_path(name)) << name;
  for (const char* name : {"kernelslist.g", "kernel-1.traceg", "stats.csv", "x.toml"})
    EXPECT_FALSE(sass::is_raw_trace_path(name)) << name;
}

}  // namespace trace_format_test
}  // namespace warpline::test
