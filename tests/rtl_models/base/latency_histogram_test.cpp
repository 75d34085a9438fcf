// The latency histogram against a list of all that was added.
#include "rtl_models/base/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline::test {
namespace latency_histogram_test {

TEST(LatencyHistogram, ClassesLieSideBySide) {
  for (std::size_t n = 0; n + 1 < LatencyHistogram::kClasses; ++n) {
    const std::uint64_t last = LatencyHistogram::last_of(n);
    if (last >> 40U != 0) break;
    EXPECT_EQ(LatencyHistogram::class_of(last), n);
    EXPECT_EQ(LatencyHistogram::class_of(last + 1), n + 1);
  }
}

TEST(LatencyHistogram, PercentilesAreAtMostAQuarterTooLarge) {
  Random random(7);
  for (unsigned round = 0; round < 50; ++round) {
    LatencyHistogram sum, part;
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 1 + random.below(200); n != 0; --n) {
      const std::uint64_t cycles = random.below(std::uint64_t{1} << random.below(20));
      all.push_back(cycles);
      (n % 3 == 0 ? part : sum).add(cycles);
    }
    sum.add(part);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(sum.count(), all.size());
    EXPECT_EQ(sum.most(), all.back());
    for (const unsigned percent : {1U, 50U, 95U, 100U}) {
      const std::uint64_t exact = all[(all.size() * percent + 99) / 100 - 1];
      EXPECT_GE(sum.percentile(percent), exact);
      EXPECT_LE(sum.percentile(percent), exact + exact / 4);
    }
    std::uint64_t counted = 0;
    sum.for_each([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
      EXPECT_EQ(count, static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [&](std::uint64_t c) {
                  return c >= first && c <= last;
                })));
      counted += count;
    });
    EXPECT_EQ(counted, all.size());
  }
  EXPECT_EQ(LatencyHistogram{}.percentile(95), 0U);
}

}  // namespace latency_histogram_test
}  // namespace warpline::test
