#include "rtl_models/cache/miss_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/cache/write_tracker.h"

namespace warpline {
namespace miss_table_test {

void compare_with_map(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const auto size = static_cast<unsigned>(1 + random.below(20));
  MissTable table(size);
  std::map<std::uint64_t, std::uint16_t> live;
  std::map<std::uint16_t, LineKind> used;  // and whose line it is for
  for (unsigned step = 0; step < 3000; ++step) {
    const std::uint64_t number = random.below(40) * 8;  // collides in every small hash
    ASSERT_EQ(table.full(), used.size() == size);
    ASSERT_EQ(table.in_use(), used.size());
    const auto known = live.find(number);
    ASSERT_EQ(table.find(number), known == live.end() ? MissTable::kNone : known->second) << "step " << step;
    switch (random.below(8)) {
      case 0:
        if (known != live.end()) {
          table.kill(known->second);
          table.kill(known->second);  // idempotent
          live.erase(known);
        }
        break;
      case 1:
        if (random.below(10) == 0) {
          const auto kind = static_cast<LineKind>(random.below(kLineKinds));
          table.kill_all(kind);
          for (auto i = live.begin(); i != live.end();)
            i = used[i->second] == kind ? live.erase(i) : std::next(i);
        }
        break;
      case 2:
      case 3:
        if (!used.empty()) {
          auto i = used.begin();
          std::advance(i, static_cast<std::ptrdiff_t>(random.below(used.size())));
          const std::uint16_t index = i->first;
          if (table[index].live) live.erase(table[index].number);
          table.release(index);
          used.erase(i);
        }
        break;
      default:
        if (known == live.end() && !table.full()) {
          const std::uint16_t index = table.allocate(number);
          ASSERT_EQ(used.count(index), 0U) << "an entry in use is not handed out, step " << step;
          ASSERT_TRUE(table[index].live && !table[index].stale && table[index].pending == 0);
          used[index] = table[index].kind = static_cast<LineKind>(random.below(kLineKinds));
          live[number] = index;
        }
    }
  }
}

TEST(MissTable, FindsWhatAMapFinds) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) compare_with_map(seed);
}

TEST(MissTable, AStaleEntryIsFoundAndADeadOneIsNot) {
  MissTable table(4);
  const std::uint16_t a = table.allocate(1), b = table.allocate(2), dead = table.allocate(3);
  table.kill(dead);
  table.mark_stale([](std::uint64_t number) { return number != 2; });
  EXPECT_TRUE(table[a].stale);
  EXPECT_FALSE(table[b].stale);
  EXPECT_EQ(table.find(1), a);
  EXPECT_EQ(table.find(3), MissTable::kNone);
  EXPECT_NE(table.allocate(3), dead);
}

/// Acknowledges writes in any order and says which drains must be complete: those with no
/// earlier write outstanding.
void drains_against_sets(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  WriteTracker tracker;
  struct Write {
    unsigned order;
    std::uint16_t tag;
  };
  std::vector<Write> outstanding;
  std::vector<Request> drains(400);
  std::vector<unsigned> drain_order(drains.size());
  std::set<const Request*> done, expected;
  unsigned next_drain = 0;
  const auto settle = [&](RequestList& list) {
    while (!list.empty()) ASSERT_TRUE(done.insert(list.pop()).second) << "a drain is answered once";
    unsigned oldest = ~0U;
    for (const Write& w : outstanding) oldest = std::min(oldest, w.order);
    for (unsigned d = 0; d < next_drain; ++d)
      if (drain_order[d] < oldest) expected.insert(&drains[d]);
    ASSERT_EQ(done, expected);
  };
  for (unsigned step = 0; step < 3000; ++step) {
    RequestList list;
    switch (random.below(5)) {
      case 0:
      case 1: outstanding.push_back({step, tracker.sent()}); break;
      case 2:
      case 3:
        if (!outstanding.empty()) {
          const std::size_t k = random.below(outstanding.size());
          const std::uint16_t tag = outstanding[k].tag;
          outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(k));
          tracker.acknowledged(tag, list);
        }
        break;
      default:
        if (next_drain < drains.size() && random.below(3) == 0) {
          drain_order[next_drain] = step;
          tracker.drain(&drains[next_drain++], list);
        }
    }
    settle(list);
    ASSERT_EQ(tracker.outstanding(), outstanding.size());
    ASSERT_EQ(tracker.idle(), outstanding.empty());
  }
}

TEST(WriteTracker, ADrainWaitsForEarlierWritesAndNoLaterOnes) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) drains_against_sets(seed);
}

TEST(WriteTracker, TagsWrap) {
  WriteTracker tracker;
  Request drain;
  for (unsigned i = 0; i < 200000; ++i) {
    RequestList done;
    const std::uint16_t tag = tracker.sent();
    tracker.drain(&drain, done);
    ASSERT_TRUE(done.empty());
    tracker.acknowledged(tag, done);
    ASSERT_EQ(done.pop(), &drain);
    ASSERT_TRUE(tracker.idle());
  }
}

}  // namespace miss_table_test
}  // namespace warpline
