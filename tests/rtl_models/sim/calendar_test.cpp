#include "rtl_models/sim/calendar.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {
namespace calendar_test {

using Marks = std::set<std::pair<Cycle, std::uint32_t>>;

TEST(Calendar, TakesWhatWasMarkedOncePerMemberAndCycle) {
  Cycle next = 0;
  Calendar calendar(next);
  EXPECT_EQ(next, kNever);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(calendar.add_member(), i);
  calendar.mark(2, 7);
  calendar.mark(0, 7);
  calendar.mark(2, 7);
  calendar.mark(1, kNever);
  EXPECT_EQ(next, 7U);
  std::vector<std::uint32_t> taken;
  calendar.take([&taken](std::uint32_t member) { taken.push_back(member); });
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(next, kNever);
}

TEST(Calendar, ANaiveSetOfMarksAgrees) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Cycle next = 0;
    Calendar calendar(next);
    Marks naive;
    Cycle now = random.below(1000);
    calendar.restart();
    std::uint32_t members = 0;
    const auto some_cycle = [&random, &now](Cycle first) {
      constexpr std::uint64_t kSpans[] = {2, 40, 300, 5000};
      return now + first + random.below(kSpans[random.below(4)]);
    };
    for (unsigned step = 0; step < 3000; ++step) {
      if (members == 0 || (members < 40 && random.below(50) == 0)) {
        ASSERT_EQ(calendar.add_member(), members++);
      } else if (random.below(3) != 0 || naive.empty()) {
        const auto member = static_cast<std::uint32_t>(random.below(members));
        const Cycle cycle = some_cycle(1);
        calendar.mark(member, cycle);
        naive.emplace(cycle, member);
      } else {
        ASSERT_EQ(next, naive.begin()->first) << "seed " << seed << " step " << step;
        now = next;
        Marks added;
        calendar.take([&](std::uint32_t member) {
          ASSERT_EQ(naive.begin()->first, now);
          ASSERT_EQ(naive.begin()->second, member);
          naive.erase(naive.begin());
          if (random.below(2) != 0) return;
          const Cycle again = some_cycle(1);
          calendar.mark(member, again);
          naive.emplace(again, member);
        });
        ASSERT_TRUE(naive.empty() || naive.begin()->first > now);
      }
      ASSERT_EQ(calendar.next(), naive.empty() ? kNever : naive.begin()->first);
    }
  }
}

}  // namespace calendar_test
}  // namespace warpline
