#include "rtl_models/sim/arbiter.h"

#include <gtest/gtest.h>

#include <set>

#include "rtl_models/base/random.h"

namespace warpline {
namespace arbiter_test {

TEST(Arbiter, TheTurnPassesOnGrantsOnly) {
  Arbiter arbiter(1, 4);
  arbiter.ask(0, 1);
  arbiter.ask(0, 3);
  EXPECT_EQ(arbiter.choose(0), 1U);
  EXPECT_EQ(arbiter.choose(0), 1U);
  arbiter.grant(0, 1);
  arbiter.ask(0, 1);
  EXPECT_EQ(arbiter.choose(0), 3U);
  arbiter.grant(0, 3);
  EXPECT_EQ(arbiter.choose(0), 1U);
  EXPECT_EQ(arbiter.asking(0), 1U);
}

TEST(Arbiter, ChoosesAmongThoseThatFit) {
  Arbiter arbiter(1, 200);
  for (const unsigned input : {5U, 70U, 199U}) arbiter.ask(0, input);
  arbiter.grant(0, 70);
  EXPECT_EQ(arbiter.choose(0, [](unsigned input) { return input < 100; }), 5U);
  EXPECT_EQ(arbiter.choose(0, [](unsigned) { return false; }), Arbiter::kNone);
}

TEST(Arbiter, AgreesWithANaiveRoundRobin) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto outputs = static_cast<unsigned>(1 + random.below(130));
    const auto inputs = static_cast<unsigned>(1 + random.below(200));
    Arbiter arbiter(outputs, inputs);
    std::vector<std::set<unsigned>> asking(outputs);
    std::vector<unsigned> turn(outputs, 0);
    for (unsigned i = 0; i < 2000; ++i) {
      const auto output = static_cast<unsigned>(random.below(outputs));
      const auto input = static_cast<unsigned>(random.below(inputs));
      if (asking[output].insert(input).second) arbiter.ask(output, input);
      if (random.below(3) == 0) continue;
      std::vector<unsigned> asked;
      arbiter.for_each_asked([&](unsigned o) { asked.push_back(o); });
      std::vector<unsigned> expected;
      for (unsigned o = 0; o < outputs; ++o)
        if (!asking[o].empty()) expected.push_back(o);
      ASSERT_EQ(asked, expected);
      unsigned first = turn[output];
      while (asking[output].count(first) == 0) first = (first + 1) % inputs;
      ASSERT_EQ(arbiter.asking(output), asking[output].size());
      ASSERT_EQ(arbiter.choose(output), first) << "seed " << seed;
      arbiter.grant(output, first);
      asking[output].erase(first);
      turn[output] = (first + 1) % inputs;
    }
  }
}

}  // namespace arbiter_test
}  // namespace warpline
