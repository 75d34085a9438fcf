#include "warpline/cache/tag_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "warpline/base/random.h"

namespace warpline {
namespace {

/// One line of the naive cache: a set is a list of these, and nothing is indexed.
struct NaiveLine {
  std::uint64_t number = 0;
  unsigned eviction = 0;
  std::uint64_t used = 0;
};

class NaiveSet {
 public:
  NaiveSet(unsigned ways, unsigned last_ways) : ways_(ways), last_ways_(last_ways) {}
  [[nodiscard]] NaiveLine* find(std::uint64_t number) {
    for (NaiveLine& l : lines_)
      if (l.number == number) return &l;
    return nullptr;
  }
  /// The line that has to go, or nothing while a way is free.
  [[nodiscard]] std::optional<std::uint64_t> victim() const {
    if (lines_.size() < ways_) return std::nullopt;
    return std::min_element(lines_.begin(), lines_.end(),
                            [](const NaiveLine& a, const NaiveLine& b) {
                              return a.eviction != b.eviction ? a.eviction < b.eviction : a.used < b.used;
                            })
        ->number;
  }
  /// The class that a line gets which this priority is to be given; other lines make room for it.
  unsigned give(EvictionPriority priority) {
    if (priority == EvictionPriority::first) return 0;
    if (priority != EvictionPriority::last || last_ways_ == 0) return 1;
    NaiveLine* oldest = nullptr;
    unsigned held = 0;
    for (NaiveLine& l : lines_) {
      if (l.eviction != 2) continue;
      ++held;
      if (oldest == nullptr || l.used < oldest->used) oldest = &l;
    }
    if (held == last_ways_) oldest->eviction = 1;
    return 2;
  }
  [[nodiscard]] unsigned held_last() const {
    return static_cast<unsigned>(
        std::count_if(lines_.begin(), lines_.end(), [](const NaiveLine& l) { return l.eviction == 2; }));
  }
  void insert(const NaiveLine& line) {
    if (const auto out = victim()) drop(*out);
    lines_.push_back(line);
  }
  void drop(std::uint64_t number) {
    lines_.erase(
        std::remove_if(lines_.begin(), lines_.end(), [&](const NaiveLine& l) { return l.number == number; }),
        lines_.end());
  }

 private:
  unsigned ways_, last_ways_;
  std::vector<NaiveLine> lines_;
};

void compare_with_naive(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const CacheGeometry geometry{static_cast<unsigned>(1 + random.below(9)),
                               static_cast<unsigned>(1 + random.below(6)),
                               static_cast<unsigned>(random.below(101))};
  const unsigned last_ways = geometry.ways * geometry.evict_last_percent / 100;
  TagArray tags(geometry);
  std::vector<NaiveSet> sets(geometry.sets, NaiveSet(geometry.ways, last_ways));
  const std::uint64_t lines = 1 + random.below(std::uint64_t{3} * geometry.sets * geometry.ways);
  std::uint64_t clock = 0;
  for (unsigned step = 0; step < 2000; ++step) {
    const std::uint64_t number = random.below(lines);
    const auto priority = static_cast<EvictionPriority>(random.below(6));
    NaiveSet& set = sets[number % geometry.sets];
    const std::uint32_t index = tags.find(number, number);
    NaiveLine* const line = set.find(number);
    ASSERT_EQ(index != TagArray::kAbsent, line != nullptr) << "step " << step;
    if (line != nullptr) {
      ASSERT_EQ(tags.number(index), number);
      if (random.below(8) == 0) {
        tags.drop(index);
        set.drop(number);
      } else {
        tags.use(index, priority);
        const bool names = priority == EvictionPriority::first || priority == EvictionPriority::normal ||
                           priority == EvictionPriority::last;
        const bool same = line->eviction == 2 && priority == EvictionPriority::last;
        if (names && !same) line->eviction = set.give(priority);
        if (priority != EvictionPriority::unchanged) line->used = ++clock;
      }
      ASSERT_LE(set.held_last(), last_ways);
      continue;
    }
    const EvictionClass eviction = tags.admit(number, priority);
    const unsigned expected_class = set.give(priority);
    ASSERT_EQ(static_cast<unsigned>(eviction), expected_class) << "step " << step;
    const std::uint32_t victim = tags.victim(number);
    const std::optional<std::uint64_t> expected = set.victim();
    ASSERT_EQ(tags.present(victim), expected.has_value()) << "step " << step;
    if (expected) {
      ASSERT_EQ(tags.number(victim), *expected) << "step " << step;
    }
    tags.install(victim, number, eviction);
    set.insert({number, expected_class, ++clock});
  }
}

TEST(TagArray, PicksTheVictimANaiveListPicks) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) compare_with_naive(seed);
}

TEST(TagArray, VictimOrderIsInvalidFirstNormalLast) {
  TagArray tags({1, 4});
  tags.install(tags.victim(0), 10, EvictionClass::last);
  tags.install(tags.victim(0), 11, EvictionClass::normal);
  tags.install(tags.victim(0), 12, EvictionClass::first);
  EXPECT_FALSE(tags.present(tags.victim(0)));
  tags.install(tags.victim(0), 13, EvictionClass::normal);
  for (const std::uint64_t expected : {12U, 11U, 13U, 10U}) {
    const std::uint32_t v = tags.victim(0);
    EXPECT_EQ(tags.number(v), expected);
    tags.install(v, 100 + expected, EvictionClass::last);
  }
}

/// A set of four ways, filled in the order of `priorities` by lines 0, 1, ...
TagArray filled(const std::vector<EvictionPriority>& priorities, unsigned percent = 75) {
  TagArray tags({1, 4, percent});
  for (std::uint64_t n = 0; n < priorities.size(); ++n) {
    const EvictionClass c = tags.admit(0, priorities[n]);
    tags.install(tags.victim(0), n, c);
  }
  return tags;
}

TEST(TagArray, AHitGivesTheClassThatItsPriorityNamesAndOthersKeepIt) {
  constexpr auto kNone = EvictionPriority::none;
  constexpr auto kLast = EvictionPriority::last;
  struct Row {
    EvictionPriority installed, hit;
    std::uint64_t victim;  ///< after line 0 was hit
  };
  for (const Row& row :
       {Row{kNone, kNone, 1}, Row{kNone, EvictionPriority::no_allocate, 1},
        Row{kNone, EvictionPriority::unchanged, 0}, Row{kNone, EvictionPriority::first, 0},
        Row{kLast, kNone, 1}, Row{kLast, EvictionPriority::first, 0}, Row{EvictionPriority::first, kNone, 0},
        Row{EvictionPriority::first, EvictionPriority::normal, 1},
        Row{EvictionPriority::first, EvictionPriority::unchanged, 0}}) {
    TagArray tags = filled({row.installed, kNone, kNone, kNone});
    tags.use(tags.find(0, 0), row.hit);
    EXPECT_EQ(tags.number(tags.victim(0)), row.victim)
        << "installed " << static_cast<int>(row.installed) << ", hit " << static_cast<int>(row.hit);
  }
  TagArray tags = filled({kNone, kNone, kNone, kNone});
  tags.use(tags.find(0, 0), kLast);
  for (const std::uint64_t n : {1U, 2U, 3U}) tags.use(tags.find(n, 0), kNone);
  EXPECT_EQ(tags.number(tags.victim(0)), 1U) << "line 0 is the least recently used, but evict_last";
}

TEST(TagArray, OneEvictLastLineTooManyMakesTheOldestOfThemNormal) {
  constexpr auto kLast = EvictionPriority::last;
  // Three of four ways: the fourth such line costs line 0 its class, so line 0 goes next.
  TagArray three = filled({kLast, kLast, kLast, kLast});
  EXPECT_EQ(three.number(three.victim(0)), 0U);
  three.use(three.find(0, 0), kLast);  // now line 1 is the oldest of those
  EXPECT_EQ(three.number(three.victim(0)), 1U);
  // No share: they are normal, and a younger normal line outlives them.
  TagArray none = filled({kLast, kLast, EvictionPriority::none, EvictionPriority::none}, 0);
  EXPECT_EQ(none.number(none.victim(0)), 0U);
  // The whole set: they are replaced once nothing else is left.
  TagArray all = filled({kLast, kLast, EvictionPriority::none, kLast}, 100);
  EXPECT_EQ(all.number(all.victim(0)), 2U);
}

TEST(EvictionPriority, AFillBecomesWhatAHitOfTheLaterAccessWouldHaveMadeOfTheLine) {
  using P = EvictionPriority;
  struct Row {
    P earlier, later, fill;
  };
  for (const Row& row :
       {Row{P::no_allocate, P::no_allocate, P::no_allocate}, Row{P::no_allocate, P::unchanged, P::unchanged},
        Row{P::none, P::no_allocate, P::none}, Row{P::none, P::unchanged, P::none},
        Row{P::unchanged, P::none, P::none}, Row{P::last, P::none, P::last}, Row{P::last, P::first, P::first},
        Row{P::first, P::normal, P::normal}, Row{P::last, P::no_allocate, P::last}})
    EXPECT_EQ(joined(row.earlier, row.later), row.fill)
        << static_cast<int>(row.earlier) << " then " << static_cast<int>(row.later);
}

TEST(TagArray, AFreshLineHasNothingOfTheOneBefore) {
  TagArray tags({1, 1});
  tags.install(0, 1, EvictionClass::normal).add_valid(0xF);
  ByteMask some;
  some.set(3, 5);
  tags.mark_dirty(0, some, PhysicalAddress{128});
  tags.state(0).local = 1;
  tags.install(0, 2, EvictionClass::first);
  EXPECT_EQ(tags.state(0).valid_sectors(), 0);
  EXPECT_FALSE(tags.state(0).local);
  EXPECT_FALSE(tags.dirty(0).any());
  tags.mark_dirty(0, some, PhysicalAddress{256});
  EXPECT_EQ(tags.dirty(0), some);
  EXPECT_EQ(tags.home(0), PhysicalAddress{256});
}

TEST(TagArray, ASectorWrittenWholeIsValidAndAPartOfOneIsNot) {
  TagArray tags({1, 1});
  tags.install(0, 1, EvictionClass::normal);
  ByteMask bytes;
  bytes.set(32, 31);
  tags.mark_dirty(0, bytes, PhysicalAddress{});
  EXPECT_EQ(tags.state(0).valid_sectors(), 0);
  ByteMask rest;
  rest.set(63, 2);
  tags.mark_dirty(0, rest, PhysicalAddress{});
  EXPECT_EQ(tags.state(0).valid_sectors(), 2);
  tags.mark_clean(0);
  EXPECT_FALSE(tags.dirty(0).any());
  EXPECT_EQ(tags.state(0).valid_sectors(), 2);
}

TEST(CacheGeometry, SaysEveryFaultAtOnce) {
  EXPECT_TRUE((CacheGeometry{3, 5}.problems("p").empty()));
  EXPECT_EQ((CacheGeometry{0, 0}.problems("p").size()), 2U);
  EXPECT_EQ((CacheGeometry{1, 1025}.problems("p").size()), 1U);
  EXPECT_EQ((CacheGeometry{1, 1, 101}.problems("p").size()), 1U);
}

}  // namespace
}  // namespace warpline
