#include "rtl_models/base/problem.h"

#include <gtest/gtest.h>

#include "rtl_models/base/text.h"

namespace warpline {
namespace problem_test {

const std::vector<std::string> kKeys = {"slices",  "sets",           "ways",
                                        "latency", "credit_latency", "miss_registers"};

TEST(NearMiss, FindsSlipsOfTheHand) {
  EXPECT_EQ(near_miss("slice", kKeys), "slices");
  EXPECT_EQ(near_miss("slcies", kKeys), "slices");  // neighbours swapped
  EXPECT_EQ(near_miss("lattency", kKeys), "latency");
  EXPECT_EQ(near_miss("mis_registers", kKeys), "miss_registers");
  EXPECT_EQ(near_miss("set", kKeys), "sets");
  EXPECT_EQ(near_miss("ways", kKeys), "ways");
}

TEST(NearMiss, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(near_miss("frequency", kKeys), "");
  EXPECT_EQ(near_miss("xyz", kKeys), "");
  EXPECT_EQ(near_miss("", {"abc"}), "");
  EXPECT_EQ(near_miss("slices", {}), "");
}

TEST(NearMiss, TakesTheNearestAndTheFirstOfEquals) {
  EXPECT_EQ(near_miss("latencies", {"latent", "latency"}), "latency");
  EXPECT_EQ(near_miss("bat", {"cat", "hat"}), "cat");
}

TEST(Diagnostic, ShowsThePlaceWithACaret) {
  Diagnostic d;
  d.file = "gpu.toml";
  d.line = 12;
  d.column = 5;
  d.source = "l2.slcies = 4";
  d.message = "unknown key";
  d.hint = "did you mean 'slices'?";
  d.length = 6;
  EXPECT_EQ(d.text(),
            "gpu.toml:12:5: error: unknown key\n"
            "  12 | l2.slcies = 4\n"
            "     |     ^~~~~~\n"
            "  hint: did you mean 'slices'?\n");
}

TEST(Diagnostic, KeepsTabsUnderTabs) {
  Diagnostic d;
  d.file = "a.ptx";
  d.line = 3;
  d.column = 3;
  d.source = "\t\tld.foo;";
  d.message = "no";
  EXPECT_EQ(d.text(), "a.ptx:3:3: error: no\n  3 | \t\tld.foo;\n    | \t\t^\n");
}

TEST(Diagnostic, LeavesOutWhatItDoesNotKnow) {
  Diagnostic d;
  d.message = "no such file";
  EXPECT_EQ(d.text(), "error: no such file\n");
  d.file = "x";
  EXPECT_EQ(d.text(), "x: error: no such file\n");
  d.line = 4;
  EXPECT_EQ(d.text(), "x:4: error: no such file\n");
  d.source = "text";
  EXPECT_EQ(d.text(), "x:4: error: no such file\n  4 | text\n");
}

TEST(Diagnostic, ACaretBeyondTheLineStaysAtItsEnd) {
  Diagnostic d;
  d.file = "x";
  d.line = 1;
  d.column = 100;
  d.source = "ab";
  d.message = "unexpected end";
  EXPECT_EQ(d.text(), "x:1:100: error: unexpected end\n  1 | ab\n    |   ^\n");
}

TEST(Diagnostic, OfALongLineAndMessageAPartIsShown) {
  Diagnostic d;
  d.file = "x";
  d.line = 1;
  d.column = 5001;
  d.length = 20000;
  d.source = std::string(5000, 'a') + "HERE" + std::string(5000, 'b');
  d.message = std::string(100000, 'm');
  const std::string text = d.text();
  EXPECT_LT(text.size(), 5000U);
  const std::size_t line = text.find("  1 | ..."), caret = text.find("    | ");
  ASSERT_NE(line, std::string::npos);
  ASSERT_NE(caret, std::string::npos);
  EXPECT_EQ(text.find("HERE") - line, text.find('^') - caret) << text;
  d.source = std::string(300, ' ');
  for (std::size_t n = 0; n + 1 < d.source.size(); n += 2) d.source.replace(n, 2, "\xc3\xb6");
  for (d.column = 0; d.column < 310; ++d.column) EXPECT_EQ(printable(d.text()), d.text()) << d.column;
}

TEST(Rules, CollectsEveryBrokenRuleUnderItsPath) {
  Rules rules("l2");
  rules.need(true, "sets", "must not appear");
  rules.need(false, "slices", "must be positive");
  rules.add({{"l2.geometry.ways", "must be 1 to 64"}});
  const Problems problems = rules.take();
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].path, "l2.slices");
  EXPECT_EQ(problems[0].message, "must be positive");
  EXPECT_EQ(problems[1].path, "l2.geometry.ways");
}

TEST(Result, IsAValueOrEveryFault) {
  Result<int> good(5);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 5);
  Diagnostic d;
  d.message = "one";
  const Result<int> bad(Diagnostics{d, d});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.faults().size(), 2U);
}

}  // namespace problem_test
}  // namespace warpline
