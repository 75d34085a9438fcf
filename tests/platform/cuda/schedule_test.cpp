#include "platform/cuda/schedule.h"

#include <gtest/gtest.h>

namespace warpline::cuda::test {
namespace schedule_test {

constexpr StreamId kLegacy{1}, kOne{2}, kTwo{3};

class ScheduleTest : public ::testing::Test {
 protected:
  ScheduleTest() {
    schedule_.add_stream(kLegacy, 0, true);
    schedule_.make_legacy(kLegacy);
    schedule_.add_stream(kOne, 0, false);
    schedule_.add_stream(kTwo, 0, false);
  }
  /// When it ends.
  double add(StreamId stream, Engine engine, double ns) {
    return schedule_.add(stream, engine, ns, 0).end_ns;
  }
  Schedule schedule_{1, 2};
};

TEST_F(ScheduleTest, EachEngineDoesOneThingAtATime) {
  for (const Engine engine : {Engine::compute, Engine::copy_in, Engine::copy_out, Engine::within}) {
    Schedule s(1, 2);
    s.add_stream(kOne, 0, false);
    s.add_stream(kTwo, 0, false);
    EXPECT_EQ(s.add(kOne, engine, 10, 0).end_ns, 10);
    EXPECT_EQ(s.add(kTwo, engine, 10, 0).end_ns, 20);
    EXPECT_EQ(s.add(kTwo, Engine::none, 5, 0).end_ns, 25) << "in the order of its stream";
  }
}

TEST_F(ScheduleTest, EnginesOverlap) {
  EXPECT_EQ(add(kOne, Engine::copy_in, 10), 10);
  EXPECT_EQ(add(kTwo, Engine::copy_out, 10), 10);
  EXPECT_EQ(add(kOne, Engine::compute, 10), 20);
  EXPECT_EQ(add(kTwo, Engine::within, 10), 20);
  Schedule one(1, 1);
  one.add_stream(kOne, 0, false);
  one.add_stream(kTwo, 0, false);
  EXPECT_EQ(one.add(kOne, Engine::copy_in, 10, 0).end_ns, 10);
  EXPECT_EQ(one.add(kTwo, Engine::copy_out, 10, 0).end_ns, 20) << "with one engine for both ways";
}

TEST_F(ScheduleTest, StreamsThatBlockAndTheLegacyOneWaitForEachOther) {
  schedule_.add_stream(StreamId{4}, 0, true);
  EXPECT_EQ(add(StreamId{4}, Engine::compute, 10), 10);
  EXPECT_EQ(add(kLegacy, Engine::copy_in, 10), 20);
  EXPECT_EQ(add(StreamId{4}, Engine::copy_out, 10), 30);
  EXPECT_EQ(add(kOne, Engine::within, 10), 10) << "one that does not block";
  schedule_.wait(kOne, 50);
  EXPECT_EQ(add(kOne, Engine::none, 0), 50);
}

}  // namespace schedule_test
}  // namespace warpline::cuda::test
