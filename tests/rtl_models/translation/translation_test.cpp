// The TLBs against a twin with lists, and their rules one by one.
#include "rtl_models/translation/translation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <string>

#include "rtl_models/base/random.h"
#include "rtl_models/base/state_archive.h"

namespace warpline::test {
namespace translation_test {

TranslationParameters with(unsigned first, unsigned second) {
  TranslationParameters p;
  p.first_pages = first;
  p.second_pages = second;
  p.first_miss = 10;
  p.walk = 300;
  return p;
}

Request to(std::uint64_t page, std::uint64_t within = 0) {
  Request r;
  r.virtual_line = VirtualAddress{(page << 21U) + within * 128};
  return r;
}

/// A level with a list per set, the page used last in front.
class Level {
 public:
  explicit Level(unsigned pages)
      : ways_(pages <= 16 ? pages : 8), sets_(pages == 0 ? 1 : pages / ways_), lists_(sets_) {}
  bool use(std::uint64_t page) {
    std::list<std::uint64_t>& set = lists_[(page + page / sets_ * 5) % sets_];
    const auto found = std::find(set.begin(), set.end(), page);
    const bool hit = found != set.end();
    if (hit) set.erase(found);
    set.push_front(page);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }

 private:
  std::size_t ways_;
  std::uint64_t sets_;
  std::vector<std::list<std::uint64_t>> lists_;
};

TEST(Translation, TakesWhatItsTwinTakes) {
  Random random(2611);
  constexpr unsigned kFirst[] = {1, 2, 16, 24, 64}, kSecond[] = {0, 4, 16, 48, 256};
  for (unsigned round = 0; round < 60; ++round) {
    const unsigned first = kFirst[random.below(5)], second = kSecond[random.below(5)],
                   tpcs = static_cast<unsigned>(1 + random.below(4));
    Translation translation(with(first, second), tpcs);
    std::vector<Level> own(tpcs, Level(first));
    Level shared(second);
    const std::uint64_t span = 1 + random.below(400);
    std::uint64_t walks = 0;
    for (unsigned n = 0; n < 4000; ++n) {
      const auto tpc = static_cast<unsigned>(random.below(tpcs));
      const std::uint64_t page = random.below(4) == 0 ? n / 16 % span : random.below(span);
      const bool near = own[tpc].use(page);
      const unsigned expected = near ? 0 : second == 0 || shared.use(page) ? 10 : 310;
      walks += expected == 310;
      ASSERT_EQ(translation.delay(tpc, to(page, random.below(16384))), expected)
          << first << " and " << second << " pages, look-up " << n;
    }
    EXPECT_EQ(translation.counters().walks, walks);
    EXPECT_EQ(translation.counters().first_hits + translation.counters().second_hits + walks, 4000U);
  }
}

TEST(Translation, HoldsAsManyPagesInARowAsItSays) {
  for (const unsigned pages : {8U, 16U, 64U, 1280U}) {
    Translation translation(with(pages, 0), 1);
    const auto turn = [&](unsigned reach) {
      unsigned cycles = 0;
      for (unsigned round = 0; round < 2; ++round)
        for (unsigned page = 0; page < reach; ++page) cycles += round * translation.delay(0, to(1600 + page));
      return cycles / 10;
    };
    EXPECT_EQ(turn(pages), 0U) << pages;
    EXPECT_EQ(turn(2 * pages), 2 * pages) << pages << ": in turn, each is gone when it is wanted";
  }
}

TEST(Translation, PagesASetApartDoNotShareOne) {
  Translation translation(with(64, 0), 1);
  unsigned misses = 0;
  for (unsigned round = 0; round < 2; ++round)
    for (unsigned n = 0; n < 32; ++n) misses += round * (translation.delay(0, to(n * 8)) != 0);
  EXPECT_EQ(misses, 0U) << "32 pages, 16 MiB apart";
}

TEST(Translation, SmsOfATpcShareTheFirstAndAllTheSecond) {
  Translation translation(with(16, 64), 2);
  EXPECT_EQ(translation.delay(0, to(5)), 310U);
  EXPECT_EQ(translation.delay(0, to(5)), 0U);
  EXPECT_EQ(translation.delay(1, to(5)), 10U);
  translation.clear();
  EXPECT_EQ(translation.delay(0, to(5)), 310U);
}

TEST(Translation, GoesOnFromACheckpoint) {
  Random random(7);
  Translation one(with(16, 48), 3);
  for (unsigned n = 0; n < 500; ++n)
    static_cast<void>(one.delay(static_cast<unsigned>(random.below(3)), to(random.below(90))));
  std::string bytes;
  StateArchive save(bytes);
  save(one);
  Translation other(with(16, 48), 3);
  StateArchive restore{std::string_view(bytes)};
  restore(other);
  EXPECT_TRUE(restore.ended());
  for (unsigned n = 0; n < 500; ++n) {
    const auto tpc = static_cast<unsigned>(random.below(3));
    const Request r = to(random.below(90));
    ASSERT_EQ(one.delay(tpc, r), other.delay(tpc, r));
  }
  EXPECT_EQ(one.counters().walks, other.counters().walks);
}

TEST(Translation, RequestsForAPageThatIsWalkedForWaitForThatWalk) {
  TranslationParameters p = with(1, 1);
  p.walk_reads = 2;
  Translation translation(p, 2);
  ASSERT_NE(translation.walks(), nullptr);
  const Translation::Step first = translation.begin(0, to(5), 100);
  EXPECT_EQ(first.cycles, 10U);
  ASSERT_NE(first.walk, PageWalks::kNone);
  translation.walks()->wait(first.walk, 0);
  EXPECT_EQ(translation.walks()->next(), 110U);
  const auto joins = [&](unsigned tpc, unsigned cycles) {
    const Translation::Step more = translation.begin(tpc, to(5), 105);
    EXPECT_EQ(more.cycles, cycles);
    EXPECT_EQ(more.walk, first.walk);
  };
  joins(0, 0);                                                       // its TPC's TLB has the page already
  joins(1, 10);                                                      // the second one has
  const Translation::Step other = translation.begin(0, to(6), 106);  // drives it out of both
  ASSERT_NE(other.walk, PageWalks::kNone);
  EXPECT_NE(other.walk, first.walk);
  joins(0, 10);
  EXPECT_EQ(translation.counters().walks, 2U);
  EXPECT_EQ(translation.counters().merges, 3U);
  EXPECT_EQ(translation.counters().first_hits + translation.counters().second_hits, 0U);
  EXPECT_EQ(translation.counters().walk_reads, 0U);
  EXPECT_EQ(translation.read_entry(5, 1), PageTables(1U << 20U, p.page_bytes).entry(5, 1));
  translation.place_tables(1ULL << 36U);
  EXPECT_EQ(translation.read_entry(5, 0), PageTables(1ULL << 36U, p.page_bytes).entry(5, 0));
  EXPECT_EQ(translation.counters().walk_reads, 2U);
}

TEST(Translation, WalksReadNothingWhereNoneIsMade) {
  TranslationParameters p = with(16, 0);
  p.walk_reads = 2;
  EXPECT_FALSE(p.reads()) << "the second TLB has all pages";
  EXPECT_EQ(Translation(p, 1).walks(), nullptr);
  EXPECT_EQ(Translation(with(16, 16), 1).walks(), nullptr);
}

TEST(Translation, RefusesWhatNoLevelIs) {
  const auto problems = [](auto change) {
    TranslationParameters p = with(16, 64);
    change(p);
    return p.problems("translation").size();
  };
  EXPECT_EQ(problems([](TranslationParameters&) {}), 0U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.page_bytes = 3 << 20; }), 1U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.first_pages = 20; }), 1U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.second_pages = 1U << 23U; }), 1U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.walk = 100001; }), 1U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.walk_reads = 5; }), 0U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.walk_reads = 6; }), 1U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.walkers = 0; }), 1U);
  EXPECT_EQ(problems([](TranslationParameters& p) { p.walkers = 4097; }), 1U);
}

}  // namespace translation_test
}  // namespace warpline::test
