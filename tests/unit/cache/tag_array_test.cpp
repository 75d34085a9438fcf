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
  explicit NaiveSet(unsigned ways) : ways_(ways) {}
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
  unsigned ways_;
  std::vector<NaiveLine> lines_;
};

void compare_with_naive(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const CacheGeometry geometry{static_cast<unsigned>(1 + random.below(9)),
                               static_cast<unsigned>(1 + random.below(6))};
  TagArray tags(geometry);
  std::vector<NaiveSet> sets(geometry.sets, NaiveSet(geometry.ways));
  const std::uint64_t lines = 1 + random.below(3 * geometry.sets * geometry.ways);
  std::uint64_t clock = 0;
  for (unsigned step = 0; step < 2000; ++step) {
    const std::uint64_t number = random.below(lines);
    NaiveSet& set = sets[number % geometry.sets];
    const std::uint32_t index = tags.find(number, number);
    NaiveLine* const line = set.find(number);
    ASSERT_EQ(index != TagArray::kAbsent, line != nullptr) << "step " << step;
    if (line != nullptr) {
      ASSERT_EQ(tags.number(index), number);
      if (random.below(8) == 0) {
        tags.drop(index);
        set.drop(number);
      } else if (random.below(3) != 0) {  // a look-up that does not touch changes no age
        tags.touch(index);
        line->used = ++clock;
      }
      continue;
    }
    const auto eviction = static_cast<EvictionClass>(random.below(3));
    const std::uint32_t victim = tags.victim(number);
    const std::optional<std::uint64_t> expected = set.victim();
    ASSERT_EQ(tags.present(victim), expected.has_value()) << "step " << step;
    if (expected) {
      ASSERT_EQ(tags.number(victim), *expected) << "step " << step;
    }
    tags.install(victim, number, eviction);
    set.insert({number, static_cast<unsigned>(eviction), ++clock});
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
}

}  // namespace
}  // namespace warpline
