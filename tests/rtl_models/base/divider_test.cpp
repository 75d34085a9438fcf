#include "rtl_models/base/divider.h"

#include <gtest/gtest.h>

#include "rtl_models/base/random.h"

namespace warpline {
namespace divider_test {

void check(const Divider& divider, std::uint64_t x) {
  ASSERT_EQ(divider.quotient(x), x / divider.divisor()) << x << " / " << divider.divisor();
  ASSERT_EQ(divider.remainder(x), x % divider.divisor()) << x << " % " << divider.divisor();
}

TEST(Divider, AgreesWithTheProcessor) {
  Random random(1);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::uint64_t d = i < 2000 ? i + 1 : random.next() >> random.below(64) | 1U;
    const Divider divider(d);
    for (unsigned shift = 0; shift < 64; shift += 3) check(divider, random.next() >> shift);
    // Around multiples, and around the end of the fast path.
    const std::uint64_t multiple = (random.next() >> random.below(64)) / d * d;
    const std::uint64_t end = ~std::uint64_t{0} / d;
    for (const std::uint64_t x :
         {multiple, multiple - 1, multiple + 1, end, end - 1, end + 1, ~std::uint64_t{0}, std::uint64_t{0}})
      ASSERT_NO_FATAL_FAILURE(check(divider, x));
  }
}

TEST(DividerDeath, NothingIsDividedByZero) {
  EXPECT_DEATH(Divider(0), "contract violated");
}

}  // namespace divider_test
}  // namespace warpline
