#include "rtl_models/isa/sass_cctl_encoding.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/sass_cctl_text.h"
#include "tests/support/environment.h"

namespace warpline {
namespace sass_cctl_encoding_test {

using ::testing::HasSubstr;

InstructionWord word_of(const std::string& text) {
  const Result<Cctl> r = parse_cctl(text);
  EXPECT_TRUE(r.ok()) << text;
  return encode(r.value());
}

TEST(SassCctlEncoding, PutsItsFieldsWhereItSays) {
  const InstructionWord w = word_of("@!P3 CCTL.E.U.RS [R2 - 1] &req=0x21 &rd=4 ?WAIT9;");
  EXPECT_EQ(w.low, 0xffffffff02000000ULL | 0x98fU | 3U << 12U | 1U << 15U);
  EXPECT_EQ(w.high, 1ULL << 8U | 1ULL << 12U | 5ULL << 23U | 9ULL << 41U | 4ULL << 49U | 0x21ULL << 52U);
  EXPECT_EQ(word_of("CCTL.IVALL").high >> 23U & 31U, 4U) << "as published disassemblies have it";
}

TEST(SassCctlEncoding, RefusesWhatTheSeedCallsIllegalEncodings) {
  const auto why = [](const char* text, std::uint64_t low, std::uint64_t high) {
    InstructionWord w = word_of(text);
    w.low ^= low;
    w.high ^= high;
    return decode_cctl(w).illegal;
  };
  EXPECT_EQ(why("CCTL.IVALL", 0, 0), "");
  EXPECT_THAT(why("CCTL.IVALL", 1ULL << 24U, 0), HasSubstr("Ra to be RZ"));
  EXPECT_THAT(why("CCTL.IVALL", 1ULL << 32U, 0), HasSubstr("immediate to be 0"));
  EXPECT_THAT(why("CCTL.IVALL", 0, 1ULL << 8U), HasSubstr(".E"));
  EXPECT_THAT(why("CCTLL.IV [R1]", 1ULL << 60U, 0), HasSubstr("24 bits"));
  EXPECT_THAT(why("CCTL.IV [R1]", 0, 4ULL << 23U), HasSubstr("no such operation"));
  EXPECT_THAT(why("CCTL.IV [R1]", 0, 5ULL << 12U), HasSubstr("no such cache"));
  EXPECT_THAT(why("CCTL.IV [R1]", 0, 2ULL << 12U), HasSubstr("no such operation"));
  EXPECT_THAT(why("CCTL.IV [R1]", 1ULL << 16U, 0), HasSubstr("belongs to no field"));
  EXPECT_THAT(why("CCTL.IV [R1]", 1, 0), HasSubstr("opcode"));
  EXPECT_THAT(why("CCTL.IV [R1] &rd=4", 0, 2ULL << 49U), HasSubstr("six scoreboards"));
  EXPECT_THAT(why("CCTL.IV [R1]", 0, 1ULL << 41U), HasSubstr("?WAIT1"));
  EXPECT_THAT(why("CCTL.C.IVALL", 0, 4ULL << 41U), HasSubstr("?WAIT5"));
}

/// Random words decode to an instruction that encodes to the same word, or are refused with a reason. Half of
/// them are wholly random but for the opcode, the others lawful ones with a few bits flipped, so that both
/// outcomes are common. WARPLINE_CCTL_WORDS: how many.
TEST(SassCctlEncoding, DecodesAndEncodesToTheSameWord) {
  const std::uint64_t words = from_environment("WARPLINE_CCTL_WORDS", 1'000'000);
  Random random(5);
  constexpr std::uint64_t kHigh = 0x03fe1e000f807100ULL;
  std::uint64_t legal = 0, refused = 0;
  for (std::uint64_t n = 0; n < words; ++n) {
    InstructionWord w{random.next(), random.next()};
    if (n % 2 == 0) {
      w.low = (w.low & 0xffffffffff00f000ULL & ~0xff0000ULL) | (w.low & 1U ? 0x98fU : 0x990U);
      w.low |= random.next() % 3 == 0 ? 0xff000000ULL : 0;
      w.high &= kHigh & ~(random.next() % 4 == 0 ? 0 : 0x7100ULL | 3ULL << 26U);
      if (random.next() % 8 == 0) w.high ^= 1ULL << (random.next() % 64);
    }
    const DecodedCctl d = decode_cctl(w);
    if (!d.illegal.empty()) {
      ++refused;
      continue;
    }
    ++legal;
    ASSERT_FALSE(judge(d.instruction));
    const InstructionWord again = encode(d.instruction);
    ASSERT_TRUE(again.low == w.low && again.high == w.high) << "word " << n << ": " << to_text(d.instruction);
  }
  EXPECT_GT(legal, words / 20) << "the words are to hit lawful instructions";
  EXPECT_GT(refused, words / 4);
}

TEST(SassCctlEncoding, EveryLawfulInstructionHasAWordOfItsOwn) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  Cctl c;
  for (unsigned n = 0; n < 2U * 2 * 5 * 7 * 3 * 3; ++n) {
    unsigned rest = n;
    const auto pick = [&rest](unsigned count) {
      const unsigned chosen = rest % count;
      rest /= count;
      return chosen;
    };
    c.local = pick(2) != 0;
    c.extended = pick(2) != 0;
    c.cache = static_cast<CctlCache>(pick(5));
    c.operation = static_cast<CctlOperation>(pick(7));
    constexpr std::uint8_t kRegisters[] = {0, 7, Cctl::kNoRegister};
    constexpr std::uint32_t kImmediates[] = {0, 0xffffff, 0x80000000};
    c.address_register = kRegisters[pick(3)];
    c.immediate = kImmediates[pick(3)];
    c.wait = 5;
    if (judge(c)) continue;
    const InstructionWord w = encode(c);
    EXPECT_TRUE(seen.emplace(w.low, w.high).second) << to_text(c);
    const DecodedCctl d = decode_cctl(w);
    ASSERT_EQ(d.illegal, "") << to_text(c);
    EXPECT_TRUE(d.instruction == c) << to_text(c);
  }
  EXPECT_GT(seen.size(), 50U);
}

}  // namespace sass_cctl_encoding_test
}  // namespace warpline
