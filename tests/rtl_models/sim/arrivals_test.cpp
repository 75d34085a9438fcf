#include "rtl_models/sim/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rtl_models/base/random.h"

namespace warpline {
namespace arrivals_test {

std::vector<unsigned> collected(Arrivals& arrivals, Cycle now) {
  std::vector<unsigned> ports;
  arrivals.collect(now, [&](unsigned port) { ports.push_back(port); });
  std::sort(ports.begin(), ports.end());
  return ports;
}

TEST(Arrivals, AnnouncesEachFrontOnceWhenItArrives) {
  for (const Cycle at : {10, 63, 64, 65, 128, 1000}) {
    Arrivals arrivals(3);
    arrivals.expect(2, at);
    EXPECT_TRUE(collected(arrivals, at - 1).empty());
    EXPECT_EQ(collected(arrivals, at), std::vector<unsigned>{2});
    EXPECT_TRUE(collected(arrivals, at + 64).empty());
  }
}

TEST(Arrivals, APortMayExpectItsNextFrontWhileAnnounced) {
  Arrivals arrivals(2);
  arrivals.expect(0, 5);
  unsigned announced = 0;
  for (Cycle now = 5; now < 10; ++now)
    arrivals.collect(now, [&](unsigned port) {
      ++announced;
      arrivals.expect(port, now + 1);
    });
  EXPECT_EQ(announced, 5U);
}

TEST(Arrivals, AnnouncesAFrontThatArrivesAfterTimeWentBack) {
  // Between grids the engine goes back over idle ticks: the new front may arrive in the very cycle of one.
  for (const Cycle at : {901, 950, 999, 1000, 1001, 1063, 1064}) {
    Arrivals arrivals(2);
    EXPECT_TRUE(collected(arrivals, 1000).empty());
    arrivals.expect(1, at);
    EXPECT_EQ(collected(arrivals, at), std::vector<unsigned>{1}) << at;
  }
}

TEST(Arrivals, AgreesWithAListOfTimesOnRandomTraffic) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed * 7);
    const auto ports = static_cast<unsigned>(1 + random.below(100));
    const std::uint64_t far = 1 + random.below(300), step = 1 + random.below(90);
    Arrivals arrivals(ports);
    std::vector<Cycle> expected(ports, kNever);
    Cycle now = 0;
    for (unsigned i = 0; i < 500; ++i) {
      for (unsigned n = 0; n < 5; ++n) {
        const auto port = static_cast<unsigned>(random.below(ports));
        if (expected[port] != kNever) continue;
        expected[port] = now + 1 + random.below(far);
        arrivals.expect(port, expected[port]);
      }
      now += 1 + random.below(step);
      std::vector<unsigned> due;
      for (unsigned port = 0; port < ports; ++port) {
        if (expected[port] > now) continue;
        due.push_back(port);
        expected[port] = kNever;
      }
      ASSERT_EQ(collected(arrivals, now), due) << "seed " << seed;
    }
  }
}

}  // namespace arrivals_test
}  // namespace warpline
