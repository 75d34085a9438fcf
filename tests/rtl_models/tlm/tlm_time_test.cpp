// Cycles and SystemC time: exact inverses, at odd clocks. The time resolution is one per process.
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_process.h"

namespace warpline {
namespace tlm_time_test {

TEST(CycleTime, StartTickAndCycleAreExactInverses) {
  for (const unsigned mhz : {1U, 3U, 7U, 100U, 333U, 997U, 1000U, 1410U, 1593U, 2619U, 99991U, 250000U}) {
    ASSERT_EQ(CycleTime::problem(mhz), "");
    const CycleTime time(mhz);
    for (const Cycle base : {Cycle{0}, Cycle{123456789}, Cycle{1} << 40U}) {
      for (Cycle c = base; c < base + 1000; ++c) {
        const sc_core::sc_time start = time.start_of(c), tick = time.tick_of(c), next = time.start_of(c + 1);
        const sc_core::sc_time unit = sc_core::sc_get_time_resolution();
        ASSERT_LT(start, tick);
        ASSERT_LT(tick, next);
        ASSERT_EQ(time.cycle_of(start), c);
        ASSERT_EQ(time.cycle_of(tick), c);
        ASSERT_EQ(time.cycle_of(next - unit), c);
        ASSERT_EQ(time.first_tick_from(start), c);
        ASSERT_EQ(time.first_tick_from(tick), c);
        ASSERT_EQ(time.first_tick_from(tick + unit), c + 1);
        ASSERT_EQ(time.first_tick_from(next), c + 1);
        ASSERT_EQ(time.first_tick_after(start), c);
        ASSERT_EQ(time.first_tick_after(tick - unit), c);
        ASSERT_EQ(time.first_tick_after(tick), c + 1);
        ASSERT_EQ(time.first_tick_after(next), c + 1);
      }
    }
  }
}

TEST(CycleTime, EveryUnitOfTimeLiesInTheCycleThatHoldsIt) {
  const CycleTime time(142857);  // seven picoseconds and a little
  for (std::uint64_t v = 0; v < 20000; ++v) {
    const sc_core::sc_time t = sc_core::sc_time::from_value(v);
    const Cycle c = time.cycle_of(t);
    ASSERT_LE(time.start_of(c), t);
    ASSERT_LT(t, time.start_of(c + 1));
  }
}

TEST(CycleTime, AClockThatTheResolutionCannotExpressIsRefused) {
  EXPECT_NE(CycleTime::problem(0), "");
  EXPECT_EQ(CycleTime::problem(250000), "");
  EXPECT_NE(CycleTime::problem(250001), "");
}

}  // namespace tlm_time_test
}  // namespace warpline
