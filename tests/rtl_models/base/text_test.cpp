#include "rtl_models/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/bits.h"

namespace warpline::test {
namespace text_test {

using Parts = std::vector<std::string_view>;

TEST(Text, SplittingKeepsEmptyPartsAndTrimmingTakesBothEnds) {
  EXPECT_EQ(split("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split("a,", ','), (Parts{"a", ""}));
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("  "), "");
  EXPECT_EQ(upper("aZ_9"), "AZ_9");
  EXPECT_TRUE(ends_with("a.xz", ".xz"));
  EXPECT_FALSE(ends_with("xz", ".xz"));
}

TEST(Text, AJsonStringEscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(json_string("a\"b\\c\n\x1f"), R"("a\"b\\c\u000a\u001f")");
  EXPECT_EQ(json_string("\x7f\xc2\x9b\xe2\x80\xae\xd8\x9c\xe2\x81\xa9"),
            R"("\u007f\u009b\u202e\u061c\u2069")")
      << "of the second set, and what turns the direction of writing";
  EXPECT_EQ(json_string("h\xc3\xb6\xc2\xa0\xf0\x9f\x98\x80"), "\"h\xc3\xb6\xc2\xa0\xf0\x9f\x98\x80\"");
  EXPECT_EQ(json_string("a\xff\xe2\x82"), R"("a\ufffd\ufffd\ufffd")") << "no UTF-8";
}

TEST(Text, WhatMovesATerminalIsShownAsQuestionMarks) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable(std::string_view("\x1b]0;x\x07\r\x7f\0", 9)),
            "?]0;x"
            "?"
            "?"
            "?"
            "?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?"
            "?31m")
      << "the second set of control characters";
  EXPECT_EQ(printable("h\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80"), "h\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "?"
            "?"
            "?x")
      << "turns the direction of writing";
  EXPECT_EQ(printable("\xff\xc3(\xe2\x82"),
            "?"
            "?(?"
            "?")
      << "no UTF-8";
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), std::string(9, '?')) << "no UTF-8 either";
}

TEST(Text, ListsAreJoinedAsSentencesHaveThem) {
  const std::vector<std::string> three = {"a", "b", "c"};
  EXPECT_EQ(joined(three, ", ", " or "), "a, b or c");
  EXPECT_EQ(joined(three), "a, b, c");
  EXPECT_EQ(joined(Parts{}), "");
  EXPECT_EQ(counted(1, "request"), "1 request");
  EXPECT_EQ(counted(0, "request"), "0 requests");
}

TEST(Text, HexadecimalHasAsManyDigitsAsItNeedsOrIsAskedFor) {
  EXPECT_EQ(hexadecimal(0), "0x0");
  EXPECT_EQ(hexadecimal(0x1f, 4), "0x001f");
  EXPECT_EQ(hexadecimal(0x12345, 2), "0x12345");
  EXPECT_EQ(hexadecimal(~std::uint64_t{0}), "0xffffffffffffffff");
}

TEST(Text, ANumberIsAllOfItsTextAndFitsItsType) {
  EXPECT_EQ(number_from<std::uint8_t>("255"), 255);
  EXPECT_EQ(number_from<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(number_from<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(number_from<int>("-1"), -1);
  EXPECT_EQ(number_from<int>("1 "), std::nullopt);
  EXPECT_EQ(number_from<int>(""), std::nullopt);
  EXPECT_EQ(number_with_prefix<unsigned>("0x1F"), 31U);
  EXPECT_EQ(number_with_prefix<unsigned>("0x"), std::nullopt);
  EXPECT_EQ(number_with_prefix<unsigned>("31"), 31U);
}

TEST(Bits, RoundingAndSigns) {
  EXPECT_EQ(align_up(5, 4), 8U);
  EXPECT_EQ(align_up(8, 4), 8U);
  EXPECT_EQ(sign_extended(0xff, 8), -1);
  EXPECT_EQ(sign_extended(0x7f, 8), 127);
  EXPECT_EQ(bits_as<std::uint32_t>(1.0F), 0x3f800000U);
}

}  // namespace text_test
}  // namespace warpline::test
