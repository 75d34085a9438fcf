#include "rtl_models/base/glob.h"

#include <gtest/gtest.h>

#include <string>

#include "rtl_models/base/random.h"

namespace warpline::test {
namespace glob_test {

TEST(Glob, StarsAndQuestionMarksAreWildAndBracketsAreNot) {
  EXPECT_TRUE(glob_matches("l2[0]*", "l2[0].from_crossbar"));
  EXPECT_TRUE(glob_matches("l2[0]*", "l2[0]"));
  EXPECT_FALSE(glob_matches("l2[0]*", "l20.from_crossbar")) << "[0] is no set of characters";
  EXPECT_FALSE(glob_matches("l2[0]", "l2[0].from_crossbar"));
  EXPECT_TRUE(glob_matches("*.from_crossbar", "sm[3].l1_lg.from_crossbar"));
  EXPECT_TRUE(glob_matches("sm[?].*", "sm[3].texture"));
  EXPECT_FALSE(glob_matches("sm[?].*", "sm[13].texture"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("?", ""));
}

/// By the definition, in exponential time.
bool naive(const std::string& p, const std::string& t) {
  if (p.empty()) return t.empty();
  if (p[0] == '*') return naive(p.substr(1), t) || (!t.empty() && naive(p, t.substr(1)));
  return !t.empty() && (p[0] == '?' || p[0] == t[0]) && naive(p.substr(1), t.substr(1));
}

TEST(Glob, AgreesWithItsDefinition) {
  Random random(1);
  unsigned matches = 0;
  for (unsigned n = 0; n < 200'000; ++n) {
    std::string p, t;
    for (std::uint64_t i = random.below(8); i != 0; --i) p += "ab*?"[random.below(4)];
    for (std::uint64_t i = random.below(8); i != 0; --i) t += "ab"[random.below(2)];
    ASSERT_EQ(glob_matches(p, t), naive(p, t)) << '"' << p << "\" \"" << t << '"';
    matches += glob_matches(p, t);
  }
  EXPECT_GT(matches, 10'000U);
}

}  // namespace glob_test
}  // namespace warpline::test
