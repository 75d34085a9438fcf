#include "platform/cuda/memory_advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>

namespace warpline::cuda {
namespace {

constexpr std::uint64_t kPage = 4096, kPages = 40;

/// The same, page by page.
class NaiveAdvice {
 public:
  template <class F>
  void change(std::uint64_t address, std::uint64_t bytes, F&& f) {
    for (std::uint64_t n = 0; n < kPages; ++n)
      if (touches(n, address, bytes)) f(pages_[n]);
  }
  [[nodiscard]] MemoryAdvice::Of common(std::uint64_t address, std::uint64_t bytes) const {
    std::optional<MemoryAdvice::Of> all;
    for (std::uint64_t n = 0; n < kPages; ++n) {
      if (!touches(n, address, bytes)) continue;
      const MemoryAdvice::Of& page = pages_[n];
      if (!all) all = page;
      all->read_mostly &= page.read_mostly;
      if (!(all->preferred == page.preferred)) all->preferred = {};
      if (!(all->prefetched == page.prefetched)) all->prefetched = {};
      for (auto who = all->accessed_by.begin(); who != all->accessed_by.end();)
        who = page.accessed_by.count(*who) != 0 ? std::next(who) : all->accessed_by.erase(who);
    }
    return *all;
  }

 private:
  static bool touches(std::uint64_t page, std::uint64_t address, std::uint64_t bytes) {
    return address < (page + 1) * kPage && address + bytes > page * kPage;
  }
  std::array<MemoryAdvice::Of, kPages> pages_;
};

TEST(MemoryAdvice, IsThatOfAllPagesOfARange) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  MemoryAdvice advice;
  NaiveAdvice naive;
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t address = below(kPages * kPage - 1), bytes = 1 + below(kPages * kPage - address);
    const std::uint64_t some = std::min<std::uint64_t>(bytes, 1 + below(5 * kPage));
    const int gpu = static_cast<int>(below(3));
    switch (below(6)) {
      case 0: {
        const auto f = [&](MemoryAdvice::Of& of) { of.read_mostly = gpu != 0; };
        advice.change(address, some, f);
        naive.change(address, some, f);
        break;
      }
      case 1: {
        const Location there{gpu == 2 ? Location::Kind::host : Location::Kind::device, gpu};
        const auto f = [&](MemoryAdvice::Of& of) { (step % 2 == 0 ? of.preferred : of.prefetched) = there; };
        advice.change(address, some, f);
        naive.change(address, some, f);
        break;
      }
      case 2: {
        const auto f = [&](MemoryAdvice::Of& of) { of.accessed_by.insert(gpu - 1); };
        advice.change(address, bytes, f);
        naive.change(address, bytes, f);
        break;
      }
      case 3: {
        const auto f = [&](MemoryAdvice::Of& of) { of.accessed_by.erase(gpu - 1); };
        advice.change(address, some, f);
        naive.change(address, some, f);
        break;
      }
      case 4:
        if (step % 10 == 0) {
          advice.forget(address, some);
          naive.change(address, some, [](MemoryAdvice::Of& of) { of = {}; });
        }
        break;
      default: break;
    }
    ASSERT_EQ(advice.common(address, some), naive.common(address, some))
        << "step " << step << ", seed " << kSeed;
  }
}

TEST(MemoryAdvice, IsForgottenOfPagesThatNothingLiesInAnyMore) {
  const auto managed = [](std::uint64_t address, std::uint64_t bytes) {
    return Allocation{address, bytes, Allocation::Kind::managed};
  };
  const Allocation one = managed(kPage, 64), long_one = managed(kPage + 256, 2 * kPage),
                   last = managed(3 * kPage + 512, 64);
  Allocations left;
  for (const Allocation& a : {one, long_one, last}) left.add(a);
  left.add({kPage + 128, 64, Allocation::Kind::device});
  MemoryAdvice advice;
  const auto is_read_mostly = [&advice](std::uint64_t page) {
    return advice.common(page * kPage, kPage).read_mostly;
  };
  advice.change(kPage, 3 * kPage, [](MemoryAdvice::Of& of) { of.read_mostly = true; });
  const auto free = [&](const Allocation& a) {
    left.remove(a.address);
    advice.forget(a, left);
  };
  free(long_one);
  EXPECT_TRUE(is_read_mostly(1) && is_read_mostly(3));
  EXPECT_FALSE(is_read_mostly(2));
  free(one);
  EXPECT_FALSE(is_read_mostly(1));
  EXPECT_TRUE(is_read_mostly(3));
  free(last);
  EXPECT_FALSE(is_read_mostly(3));
}

}  // namespace
}  // namespace warpline::cuda
