#include <gtest/gtest.h>

#include <vector>

#include "rtl_models/sim/clock_domain.h"

namespace warpline {
namespace clock_test {

TEST(ClockDomain, EdgesFallWhereTheyShould) {
  for (std::uint64_t denominator = 1; denominator <= 9; ++denominator) {
    for (std::uint64_t numerator = denominator; numerator <= 30; ++numerator) {
      const ClockDomain domain(numerator, denominator);
      std::vector<Cycle> edges;
      for (std::uint64_t k = 0; k < 100; ++k) {
        // The first whole cycle that is no earlier than k * numerator / denominator.
        Cycle c = 0;
        while (c * denominator < k * numerator) ++c;
        edges.push_back(c);
        ASSERT_EQ(domain.cycle_of(k), c) << numerator << "/" << denominator;
      }
      std::size_t first = 0;
      for (Cycle c = 0; c < edges.back(); ++c) {
        while (edges[first] < c) ++first;
        ASSERT_EQ(domain.edge_at_or_after(c), first) << numerator << "/" << denominator << " at " << c;
        ASSERT_EQ(domain.align(c), edges[first]);
      }
      for (std::size_t k = 0; k + 7 < edges.size(); ++k) {
        ASSERT_EQ(domain.after(edges[k], 0), edges[k]);
        ASSERT_EQ(domain.after(edges[k], 7), edges[k + 7]);
      }
      EXPECT_EQ(domain.is_fastest(), numerator == denominator);
    }
  }
}

TEST(ClockDomain, NeverStaysNever) {
  EXPECT_EQ(ClockDomain(3, 2).align(kNever), kNever);
  EXPECT_EQ(ClockDomain().align(kNever), kNever);
}

TEST(ClockDomain, LongRunsAreExact) {
  // 1410 MHz counted by 1755 MHz, after 10^12 edges.
  const ClockDomain domain(1755, 1410);
  const std::uint64_t k = 1000000000000ULL;
  EXPECT_EQ(domain.cycle_of(k), (k * 117 + 93) / 94);
  EXPECT_EQ(domain.edge_at_or_after(domain.cycle_of(k)), k);
  EXPECT_EQ(domain.edge_at_or_after(domain.cycle_of(k) + 1), k + 1);
}

TEST(ClockDomainDeath, NoDomainIsFasterThanTheFastest) {
  EXPECT_DEATH(ClockDomain(1, 2), "contract violated");
  EXPECT_DEATH(ClockDomain(1, 0), "contract violated");
}

}  // namespace clock_test
}  // namespace warpline
