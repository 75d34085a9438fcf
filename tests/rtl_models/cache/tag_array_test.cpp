#include "rtl_models/cache/tag_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {
namespace tag_array_test {

/// One line of the naive cache, in which nothing is counted or indexed.
struct NaiveLine {
  bool valid = false;
  std::uint64_t number = 0;
  unsigned eviction = 0;
  std::uint64_t used = 0;
  unsigned rounds = 0;  ///< that the hand has ended since the line was used
  [[nodiscard]] bool is_last() const { return valid && eviction == 2; }
};

class NaiveCache {
 public:
  explicit NaiveCache(const CacheGeometry& g)
      : sets_(g.sets),
        ways_(g.ways),
        percent_(g.evict_last_percent),
        replacement_(g.replacement),
        lines_(std::size_t{g.sets} * g.ways) {}
  [[nodiscard]] NaiveLine* find(std::uint64_t number) {
    for (NaiveLine& l : lines_)
      if (l.valid && l.number == number) return &l;
    return nullptr;
  }
  void use(NaiveLine& l, EvictionPriority priority) {
    if (priority == EvictionPriority::unchanged) return;
    const bool keeps = l.eviction == 2 && priority == EvictionPriority::last;
    if (names_class(priority) && !keeps) l.eviction = admit(l.number, priority);
    l.used = ++clock_;
    point_away_from(l);
    l.rounds = 0;
  }
  /// The class that a line of the set gets which this priority is to be given; others make room for it.
  unsigned admit(std::uint64_t number, EvictionPriority priority) {
    if (priority == EvictionPriority::first) return 0;
    const std::uint64_t most = std::uint64_t{lines_.size()} * percent_ / 100;
    const unsigned in_set = percent_ == 100 ? ways_ : ways_ - 1;
    if (priority != EvictionPriority::last || most == 0 || in_set == 0) return 1;
    NaiveLine* oldest = nullptr;
    unsigned held = 0;
    for (NaiveLine* l = set(number); l != set(number) + ways_; ++l) {
      if (!l->is_last()) continue;
      ++held;
      if (oldest == nullptr || l->used < oldest->used) oldest = l;
    }
    if (held == in_set && oldest->rounds < 2) {
      look_at_next();
      return 1;
    }
    if (held == in_set) oldest->eviction = 1;
    while (held_last() >= most) look_at_next();
    return 2;
  }
  [[nodiscard]] NaiveLine& victim(std::uint64_t number) {
    NaiveLine* const first = set(number);
    const bool full = std::all_of(first, first + ways_, [](const NaiveLine& l) { return l.valid; });
    if (replacement_ == "lru" || !full) return oldest(number);
    const unsigned lowest =
        std::min_element(first, first + ways_, [](const NaiveLine& a, const NaiveLine& b) {
          return a.eviction < b.eviction;
        })->eviction;
    if (replacement_ == "random") {
      std::vector<NaiveLine*> may_go;
      for (NaiveLine* l = first; l != first + ways_; ++l)
        if (l->eviction == lowest) may_go.push_back(l);
      const auto base = static_cast<std::uint64_t>(first - lines_.data());
      return *may_go[splitmix64(clock_ ^ (base << 48U)) % may_go.size()];
    }
    unsigned low = 0, high = ways_;
    while (high - low > 1) {
      const unsigned middle = low + (high - low + 1) / 2;
      const auto holds = [&](unsigned from, unsigned to) {
        return std::any_of(first + from, first + to,
                           [&](const NaiveLine& l) { return l.eviction == lowest; });
      };
      const bool left = points_left_[{number % sets_, low, high}];
      const bool goes_left = left ? holds(low, middle) : !holds(middle, high);
      (goes_left ? high : low) = middle;
    }
    return first[low];
  }
  [[nodiscard]] NaiveLine& oldest(std::uint64_t number) {
    const auto rank = [](const NaiveLine& l) {
      return l.valid ? std::pair(std::uint64_t{l.eviction} + 1, l.used) : std::pair(std::uint64_t{0}, l.used);
    };
    return *std::min_element(set(number), set(number) + ways_,
                             [&](const NaiveLine& a, const NaiveLine& b) { return rank(a) < rank(b); });
  }
  void install(NaiveLine& l, std::uint64_t number, unsigned eviction) {
    l = {true, number, eviction, ++clock_, 0};
    point_away_from(l);
  }
  void use_sets(unsigned sets) {
    std::vector<NaiveLine>(std::size_t{sets} * ways_).swap(lines_);
    sets_ = sets;
    hand_ = 0;
    points_left_.clear();
  }
  [[nodiscard]] std::uint64_t held_last() const {
    return static_cast<std::uint64_t>(
        std::count_if(lines_.begin(), lines_.end(), [](const NaiveLine& l) { return l.is_last(); }));
  }

 private:
  [[nodiscard]] NaiveLine* set(std::uint64_t number) { return &lines_[number % sets_ * ways_]; }
  /// The tree of bits of the line's set: each on its way points to the half that it is not in.
  void point_away_from(const NaiveLine& l) {
    const auto index = static_cast<unsigned>(&l - lines_.data());
    const unsigned way = index % ways_;
    unsigned low = 0, high = ways_;
    while (high - low > 1) {
      const unsigned middle = low + (high - low + 1) / 2;
      points_left_[{index / ways_, low, high}] = way >= middle;
      (way < middle ? high : low) = middle;
    }
  }
  void look_at_next() {
    NaiveLine& l = lines_[hand_];
    if (l.is_last() && l.rounds >= 2) l.eviction = 1;
    hand_ = (hand_ + 1) % lines_.size();
    if (hand_ == 0)
      for (NaiveLine& each : lines_) ++each.rounds;
  }
  unsigned sets_, ways_, percent_;
  std::string replacement_;
  std::map<std::tuple<std::uint64_t, unsigned, unsigned>, bool> points_left_;
  std::vector<NaiveLine> lines_;
  std::size_t hand_ = 0;
  std::uint64_t clock_ = 0;
};

void compare_with_naive(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const CacheGeometry geometry{static_cast<unsigned>(1 + random.below(9)),
                               static_cast<unsigned>(1 + random.below(seed % 4 == 0 ? 20 : 6)),
                               random.below(8) == 0 ? 100 : static_cast<unsigned>(random.below(101)),
                               std::array{"lru", "pseudo_lru", "random"}[seed % 3]};
  TagArray tags(geometry);
  NaiveCache naive(geometry);
  const std::uint64_t lines = 1 + random.below(std::uint64_t{3} * geometry.sets * geometry.ways);
  const std::uint64_t favoured = random.below(3);  // of some programs, most accesses are evict_last
  unsigned sets = geometry.sets;
  for (unsigned step = 0; step < 2000; ++step) {
    if (random.below(500) == 0) {
      for (std::uint32_t i = 0; i < tags.lines(); ++i)
        if (tags.present(i)) tags.drop(i);
      sets = static_cast<unsigned>(1 + random.below(geometry.sets));
      tags.use_sets(sets);
      naive.use_sets(sets);
    }
    ASSERT_EQ(tags.lines(), sets * geometry.ways);
    const std::uint64_t number = random.below(lines);
    const auto priority =
        random.below(3) < favoured ? EvictionPriority::last : static_cast<EvictionPriority>(random.below(6));
    const std::uint32_t index = tags.find(number, number);
    NaiveLine* const line = naive.find(number);
    ASSERT_EQ(index != TagArray::kAbsent, line != nullptr) << "step " << step;
    if (line != nullptr) {
      ASSERT_EQ(tags.number(index), number);
      if (random.below(8) == 0) {
        tags.drop(index);
        *line = {};
      } else {
        tags.use(index, priority);
        naive.use(*line, priority);
        ASSERT_EQ(tags.state(index).eviction, line->eviction) << "step " << step;
      }
    } else {
      const EvictionClass eviction = tags.admit(number, priority);
      ASSERT_EQ(static_cast<unsigned>(eviction), naive.admit(number, priority)) << "step " << step;
      const std::uint32_t victim = tags.victim(number);
      NaiveLine& expected = naive.victim(number);
      ASSERT_EQ(tags.present(victim), expected.valid) << "step " << step;
      if (expected.valid) {
        ASSERT_EQ(tags.number(victim), expected.number) << "step " << step;
      }
      tags.install(victim, number, eviction);
      naive.install(expected, number, static_cast<unsigned>(eviction));
    }
    ASSERT_LE(naive.held_last(),
              CacheGeometry({sets, geometry.ways, geometry.evict_last_percent}).last_lines());
  }
}

TEST(TagArray, PicksTheVictimANaiveListPicks) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) compare_with_naive(seed);
}

TEST(TagArray, ARandomVictimIsAnyOfTheLowestClassAlike) {
  TagArray tags({1, 8, 75, "random"});
  for (std::uint64_t n = 0; n < 8; ++n)
    tags.install(tags.victim(0), n, n < 4 ? EvictionClass::normal : EvictionClass::last);
  std::array<unsigned, 8> taken{};
  for (unsigned i = 0; i < 4000; ++i) {
    ++taken.at(tags.victim(0));
    tags.touch(static_cast<std::uint32_t>(i % 8));
  }
  for (unsigned way = 0; way < 4; ++way) EXPECT_NEAR(taken.at(way), 1000, 100) << "way " << way;
  for (unsigned way = 4; way < 8; ++way) EXPECT_EQ(taken.at(way), 0U) << "evict_last";
}

/// Shares of misses where `lines` lines are read in one order again and again.
double misses_of(const CacheGeometry& geometry, std::uint64_t lines) {
  TagArray tags(geometry);
  unsigned misses = 0;
  constexpr unsigned kRounds = 20;
  for (unsigned round = 0; round < 2 * kRounds; ++round)
    for (std::uint64_t n = 0; n < lines; ++n) {
      if (const std::uint32_t index = tags.find(n, n); index != TagArray::kAbsent) {
        tags.touch(index);
        continue;
      }
      misses += round >= kRounds;
      tags.install(tags.victim(n), n, EvictionClass::normal);
    }
  return misses / static_cast<double>(kRounds * lines);
}

TEST(TagArray, PoliciesDifferInWhatACycleBeyondTheCapacityMisses) {
  // Of 64 lines one set of 4 ways in 16 has a fifth: with lru all five of them miss, always.
  EXPECT_DOUBLE_EQ(misses_of({16, 4}, 64), 0);
  EXPECT_DOUBLE_EQ(misses_of({16, 4}, 65), 5.0 / 65);
  EXPECT_DOUBLE_EQ(misses_of({16, 4}, 80), 1);
  const double by_chance = misses_of({16, 4, 75, "random"}, 80);
  EXPECT_GT(by_chance, 0.2);
  EXPECT_LT(by_chance, 0.6) << "some of what is wanted next is still there";
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

/// Installs a line as an access of this priority does, and returns its class.
EvictionClass install(TagArray& tags, std::uint64_t number, EvictionPriority priority) {
  const EvictionClass c = tags.admit(number, priority);
  tags.install(tags.victim(number), number, c);
  return c;
}

unsigned last_lines(const TagArray& tags) {
  unsigned count = 0;
  for (std::uint32_t i = 0; i < tags.lines(); ++i)
    count += tags.state(i).eviction == static_cast<std::uint64_t>(EvictionClass::last);
  return count;
}

TEST(TagArray, EvictLastHoldsAShareOfAllLinesHoweverTheyLieInSets) {
  constexpr auto kLast = EvictionPriority::last;
  // Half of 16 lines: three in each of two sets, two in a third.
  TagArray tags({4, 4, 50});
  for (const std::uint64_t n : {0U, 4U, 8U, 1U, 5U, 9U, 2U, 6U})
    EXPECT_EQ(install(tags, n, kLast), EvictionClass::last) << n;
  EXPECT_EQ(last_lines(tags), 8U);
  // The next costs one of them its class.
  EXPECT_EQ(install(tags, 3, kLast), EvictionClass::last);
  EXPECT_EQ(last_lines(tags), 8U);
  // The last way of a set is not for them, even where the array has room.
  TagArray one({4, 4, 50});
  for (const std::uint64_t n : {0U, 4U, 8U}) EXPECT_EQ(install(one, n, kLast), EvictionClass::last) << n;
  EXPECT_EQ(install(one, 12, kLast), EvictionClass::normal);
}

TEST(TagArray, EvictLastLinesThatAreDroppedReplacedOrGivenAnotherClassMakeRoom) {
  constexpr auto kLast = EvictionPriority::last;
  TagArray tags({4, 4, 25});
  for (unsigned round = 0; round < 3; ++round) {
    for (const std::uint64_t n : {0U, 1U, 2U, 3U}) EXPECT_EQ(install(tags, n, kLast), EvictionClass::last);
    EXPECT_EQ(last_lines(tags), 4U);
    tags.drop(tags.find(0, 0));
    tags.use(tags.find(1, 1), EvictionPriority::normal);
    tags.install(tags.find(2, 2), 6, EvictionClass::first);
    EXPECT_EQ(last_lines(tags), 1U);
    tags.drop(tags.find(1, 1));
    tags.drop(tags.find(6, 6));
    tags.drop(tags.find(3, 3));
  }
}

TEST(TagArray, ASetFullOfEvictLastLinesKeepsThoseInUseAndLosesOthersInTheEnd) {
  constexpr auto kLast = EvictionPriority::last;
  TagArray tags({8, 4, 75});
  for (const std::uint64_t n : {0U, 8U, 16U}) EXPECT_EQ(install(tags, n, kLast), EvictionClass::last);
  unsigned tries = 0;
  for (std::uint64_t n = 24;; n += 8, ++tries) {
    ASSERT_LT(tries, 3 * tags.lines());
    tags.use(tags.find(8, 8), kLast);
    if (install(tags, n, kLast) == EvictionClass::last) break;
  }
  EXPECT_GE(tries, tags.lines()) << "not before the hand has been round";
  EXPECT_EQ(tags.state(tags.find(8, 8)).eviction, static_cast<std::uint64_t>(EvictionClass::last));
}

TEST(TagArray, WithoutAShareEvictLastIsNormalAndWithTheWholeOneItLeavesNoLineOut) {
  constexpr auto kLast = EvictionPriority::last;
  TagArray none = filled({kLast, kLast, EvictionPriority::none, EvictionPriority::none}, 0);
  EXPECT_EQ(none.number(none.victim(0)), 0U);
  // They are replaced once nothing else is left.
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
  tags.state(0).kind = 1;
  tags.install(0, 2, EvictionClass::first);
  EXPECT_EQ(tags.state(0).valid_sectors(), 0);
  EXPECT_EQ(tags.state(0).kind, 0U);
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

}  // namespace tag_array_test
}  // namespace warpline
