#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/command.h"

namespace warpline {
namespace policy_command_test {

using test::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Ended policy(std::vector<std::string> words) {
  words.insert(words.begin(), "policy");
  return test::command(std::move(words));
}

TEST(PolicyCommand, PrintsTheDescriptorThenItsFields) {
  const Ended e = policy({"fractional", "evict_last,evict_first", "0.5"});
  EXPECT_EQ(e.status, kDone);
  EXPECT_THAT(e.err, IsEmpty());
  EXPECT_EQ(e.out,
            "0x1570000000000000\n"
            "mode:      fractional\n"
            "primary:   evict_last\n"
            "secondary: evict_first\n"
            "fraction:  8/16 of the lines\n"
            "L1:        as without a policy\n"
            "promotion: none\n");
}

TEST(PolicyCommand, FractionAndSecondaryHaveDefaults) {
  EXPECT_THAT(policy({"fractional", "evict_normal"}).out, StartsWith("0x16F0000000000000\n"));
  EXPECT_THAT(policy({"fractional", "evict_unchanged"}).out, StartsWith("0x10F0000000000000\n"));
  EXPECT_THAT(policy({"fractional", "evict_first", "1e-8"}).out, StartsWith("0x1200000000000000\n"));
}

TEST(PolicyCommand, SaysWhereTheHeadersRoundOtherwise) {
  EXPECT_THAT(policy({"fractional", "evict_last", "0.5"}).out, Not(HasSubstr("note")));
  const Ended e = policy({"fractional", "evict_last", "0.5001"});
  EXPECT_EQ(e.status, kDone);
  EXPECT_THAT(e.out, StartsWith("0x1470000000000000\n"));
  EXPECT_THAT(e.out, HasSubstr("note:      CUDA's headers make 0x1480000000000000 of 0.5001, 9/16"));
}

TEST(PolicyCommand, Ranges) {
  const Ended e = policy({"range", "evict_last", "0x12345", "1", "0x1"});
  EXPECT_EQ(e.status, kDone);
  EXPECT_EQ(e.out,
            "0x1C01202000000000\n"
            "mode:      range\n"
            "primary:   evict_last\n"
            "secondary: evict_unchanged\n"
            "block:     4096 bytes\n"
            "start:     18 (block, modulo 128)\n"
            "count:     1 blocks\n"
            "L1:        as without a policy\n"
            "promotion: none\n");
  EXPECT_THAT(policy({"range", "evict_last", "0", "4294967295", "4294967295"}).out,
              StartsWith("0x1CD00FE000000000\n"));
}

TEST(PolicyCommand, StaticProperties) {
  EXPECT_THAT(policy({"static", "global"}).out, StartsWith("0x10F0000000000000\n"));
  EXPECT_THAT(policy({"static", "normal"}).out, StartsWith("0x16F0000000000000\n"));
  EXPECT_THAT(policy({"static", "streaming"}).out, StartsWith("0x12F0000000000000\n"));
  EXPECT_THAT(policy({"static", "persisting"}).out, StartsWith("0x14F0000000000000\n"));
}

TEST(PolicyCommand, DecodesAndApplies) {
  const Ended inside = policy({"decode", "0x1D01202000000000", "--address", "0x12FFF"});
  EXPECT_EQ(inside.status, kDone);
  EXPECT_THAT(inside.out, StartsWith("0x1D01202000000000\n"));
  EXPECT_THAT(inside.out, HasSubstr("\napplies: evict_last\n"));
  EXPECT_THAT(policy({"decode", "0x1D01202000000000", "--address", "0x13000"}).out,
              HasSubstr("\napplies: evict_first\n"));
  EXPECT_THAT(policy({"decode", "1508705875169116160", "--address", "0"}).out,
              StartsWith("0x14F0000000000000\n"))
      << "decimal";
  const Ended bits = policy({"decode", "0x7000000000000000"});
  EXPECT_THAT(bits.out, HasSubstr("L1:        not allocated\npromotion: 256 bytes\n"));
  EXPECT_THAT(policy({"decode", "0", "--address", "0"}).out, HasSubstr("applies: as without a policy\n"));
}

TEST(PolicyCommand, AMalformedDescriptorFailsTheCheck) {
  for (const auto& [value, why] :
       std::vector<std::pair<std::string, std::string>>{{"0xFFFFFFFFFFFFFFFF", "bit 63"},
                                                        {"0x0C00000000000000", "mode 1"},
                                                        {"1", "58:0"},
                                                        {"0x14F0000000000001", "51:0"},
                                                        {"0x1C08000000000000", "51 or 36:0"}}) {
    const Ended e = policy({"decode", value, "--address", "128"});
    EXPECT_EQ(e.status, kCheckFailed) << value;
    EXPECT_THAT(e.out, HasSubstr("malformed: ")) << value;
    EXPECT_THAT(e.out, HasSubstr(why)) << value;
    EXPECT_THAT(e.out, HasSubstr("applies: evict_normal\n")) << value;
  }
}

TEST(PolicyCommand, MistakesAreExplained) {
  struct Case {
    std::vector<std::string> words;
    std::string message;
  };
  for (const Case& c : std::vector<Case>{
           {{"fractional", "evict_lsat"}, "did you mean \"evict_last\"?"},
           {{"fractional", "evict_last,evict_normal"}, "evict_normal cannot be the secondary priority"},
           {{"fractional", "evict_last", "1.5"}, "fraction 1.5 is out of range"},
           {{"fractional", "evict_last", "0"}, "fraction 0 is out of range"},
           {{"fractional", "evict_last", "half"}, "\"half\" is no number"},
           {{"range", "evict_last", "0", "2", "1"}, "above the total size"},
           {{"range", "evict_last", "0", "1", "4294967296"}, "total size \"4294967296\" is too large"},
           {{"range", "evict_last", "0x10000000000000000", "1", "1"}, "too large"},
           {{"range", "evict_last", "0x", "1", "1"}, "\"0x\" is no number"},
           {{"range", "evict_last", "0"}, "PRIMARY_SIZE"},
           {{"static", "persistent"}, "\"persistent\" is no access property"},
           {{"decode", "12z"}, "\"12z\" is no number"},
           {{"decode", "1", "--adress", "1"}, "--address"},
           {{"fractoinal"}, "did you mean \"fractional\"?"}}) {
    const Ended e = policy(c.words);
    EXPECT_EQ(e.status, kBadInput) << c.message;
    EXPECT_THAT(e.out, IsEmpty()) << c.message;
    EXPECT_THAT(e.err, HasSubstr(c.message));
  }
}

TEST(PolicyCommand, HelpShowsAnExample) {
  for (const char* name : {"fractional", "range", "static", "decode"}) {
    const Ended e = policy({name, "--help"});
    EXPECT_EQ(e.status, kDone) << name;
    EXPECT_THAT(e.out, HasSubstr("Example: warpline policy ")) << name;
  }
}

}  // namespace policy_command_test
}  // namespace warpline
