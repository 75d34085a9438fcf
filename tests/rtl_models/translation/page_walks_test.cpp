// Walks through page tables: where entries lie, and when they are read.
#include "rtl_models/translation/page_walks.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "rtl_models/translation/page_tables.h"

namespace warpline::test {
namespace page_walks_test {

TEST(PageTables, HaveAnEntryForEachPageOfTheMemoryAndOneAboveFor512) {
  constexpr std::uint64_t kMemory = 1ULL << 30U, kPage = 4096, kPages = kMemory / kPage;
  const PageTables tables(kMemory, kPage);
  std::set<std::uint64_t> seen;
  for (std::uint64_t page = 0; page < kPages; ++page) {
    const std::uint64_t at = offset_in_aperture(tables.entry(page, 0));
    ASSERT_LT(at + 8, kMemory);
    ASSERT_TRUE(seen.insert(at).second) << page;
    if (page != 0) {
      ASSERT_EQ(at, offset_in_aperture(tables.entry(page - 1, 0)) + 8);
    }
  }
  EXPECT_EQ(tables.entry(0, 0), tables.entry(kPages, 0)) << "beyond, they lie on each other";
  for (unsigned level = 1; level < 5; ++level) {
    const std::uint64_t span = 1ULL << 9U * level;
    EXPECT_EQ(tables.entry(0, level), tables.entry(span - 1, level)) << level;
    EXPECT_EQ(aperture_of(tables.entry(0, level)), Aperture::vidmem);
    EXPECT_TRUE(seen.insert(offset_in_aperture(tables.entry(0, level))).second) << level;
    if (span < kPages) {
      EXPECT_EQ(tables.entry(span, level).value, tables.entry(0, level).value + 8) << level;
    }
  }
}

TEST(PageTables, FitIntoTheSmallestMemory) {
  for (const std::uint64_t page_bytes : {std::uint64_t{4096}, std::uint64_t{1} << 30U}) {
    const PageTables tables(1U << 20U, page_bytes);
    for (std::uint64_t page = 0; page < 5000; ++page)
      for (unsigned level = 0; level < 5; ++level) {
        const PhysicalAddress at = tables.entry(page, level);
        ASSERT_LE(offset_in_aperture(at) + 8, 1U << 20U);
        ASSERT_EQ(at.value % 8, 0U);
      }
  }
}

TranslationParameters with(unsigned walk, unsigned reads, unsigned walkers) {
  TranslationParameters p;
  p.first_pages = p.second_pages = 16;
  p.walk = walk;
  p.walk_reads = reads;
  p.walkers = walkers;
  return p;
}

/// What is read at `edge`: pages and levels.
std::vector<std::pair<std::uint64_t, unsigned>> reads_at(PageWalks& walks, std::uint64_t edge,
                                                         std::vector<unsigned>* walkers = nullptr) {
  std::vector<std::pair<std::uint64_t, unsigned>> list;
  walks.advance(edge, [&](const PageWalks::Read& read) {
    list.emplace_back(read.page, read.level);
    if (walkers != nullptr) walkers->push_back(read.walker);
  });
  return list;
}
using Reads = std::vector<std::pair<std::uint64_t, unsigned>>;

TEST(PageWalks, ReadFromTheUppermostLevelOnEachWhenTheOneBeforeIsThere) {
  PageWalks walks(with(10, 2, 1));
  EXPECT_EQ(walks.next(), ~std::uint64_t{0});
  Request r;
  r.sm = 7;
  const PageWalks::Number n = walks.begin(5, 100, r);
  walks.wait(n, 3);
  walks.wait(n, 4);
  walks.wait(n, 3);
  EXPECT_EQ(walks.of(5), n);
  EXPECT_EQ(walks.of(6), PageWalks::kNone);
  EXPECT_EQ(walks.next(), 100U);
  EXPECT_EQ(reads_at(walks, 99), Reads{});
  EXPECT_EQ(walks.walking(), 0U);
  EXPECT_EQ(reads_at(walks, 100), Reads{});
  EXPECT_EQ(walks.walking(), 1U);
  EXPECT_EQ(walks.next(), 110U);
  EXPECT_EQ(reads_at(walks, 109), Reads{});
  EXPECT_EQ(reads_at(walks, 110), (Reads{{5, 1}}));
  EXPECT_EQ(reads_at(walks, 150), Reads{}) << "twice is once";
  EXPECT_EQ(walks.next(), ~std::uint64_t{0});
  std::vector<std::uint32_t> over;
  const auto note = [&](std::uint32_t place) { over.push_back(place); };
  walks.answer(160, 0, note);
  EXPECT_TRUE(over.empty());
  EXPECT_EQ(walks.next(), 160U);
  EXPECT_EQ(reads_at(walks, 160), (Reads{{5, 0}}));
  EXPECT_FALSE(walks.ended(n));
  walks.answer(200, 0, note);
  EXPECT_EQ(over, (std::vector<std::uint32_t>{3, 4, 3}));
  EXPECT_TRUE(walks.ended(n));
  EXPECT_EQ(walks.of(5), PageWalks::kNone);
  EXPECT_EQ(walks.walking(), 0U);
  for (unsigned i = 0; i < 3; ++i) walks.leave(n);
  EXPECT_EQ(walks.begin(9, 201, r), n) << "its place is free";
}

TEST(PageWalks, BeginAsTheyAreReadyWhenAWalkerIsFree) {
  PageWalks walks(with(0, 1, 2));
  const Request r{};
  // Made in another order than they are ready in; of two at one edge, the one that was made first.
  for (const auto& [page, ready] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 30}, {2, 10}, {3, 30}, {4, 20}})
    walks.wait(walks.begin(page, ready, r), 0);
  EXPECT_EQ(walks.waiting(), 4U);
  std::vector<unsigned> walkers;
  EXPECT_EQ(reads_at(walks, 10, &walkers), (Reads{{2, 0}}));
  EXPECT_EQ(reads_at(walks, 20, &walkers), (Reads{{4, 0}}));
  EXPECT_EQ(walks.walking(), 2U);
  EXPECT_EQ(walks.next(), ~std::uint64_t{0}) << "both walkers are taken";
  EXPECT_EQ(reads_at(walks, 30, &walkers), Reads{});
  walks.answer(35, walkers[1], [](std::uint32_t) {});
  EXPECT_EQ(reads_at(walks, 35, &walkers), (Reads{{1, 0}}));
  walks.answer(36, walkers[0], [](std::uint32_t) {});
  EXPECT_EQ(reads_at(walks, 36), (Reads{{3, 0}}));
  EXPECT_EQ(walks.waiting(), 0U);
}

}  // namespace page_walks_test
}  // namespace warpline::test
