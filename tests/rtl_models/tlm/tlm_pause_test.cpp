// A simulation paused at a time shows the state of that time, though every hop is direct.
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_process.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace tlm_pause_test {

constexpr Cycle kItems = 400;

/// Port to port, in an engine of somebody's.
struct Pair {
  explicit Pair(Engine& engine)
      : requester(engine, "requester", {}, items(), 2), target(engine, "target", {}, 5, 3) {
    connect(requester.out, target.in, {32, 3, 4, 1});
    connect(target.out, requester.in, {32, 2, 4, 1});
  }
  static std::vector<Item> items() {
    std::vector<Item> all;
    for (Cycle c = 0; c < kItems; ++c) all.push_back(read_item(c * 3, PhysicalAddress{c * kLineBytes}, 1));
    return all;
  }
  /// Which requests have been sent, taken and answered.
  [[nodiscard]] std::vector<Cycle> state() const {
    std::vector<Cycle> all = {target.seen.size()};
    for (const Answer& a : requester.answers) {
      all.push_back(a.sent);
      all.push_back(a.answered);
    }
    return all;
  }
  Requester requester;
  Target target;
};

TEST(EngineProcess, APausedSimulationShowsTheStateOfItsTime) {
  EngineProcess module("engine", 1000);
  Pair watched(module.engine());
  Engine plain;
  Pair expected(plain);
  Random random(5);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (unsigned pause = 0; pause < 200; ++pause) {
    // At and between ticks, which lie half a nanosecond past the whole ones.
    sc_core::sc_start(sc_core::sc_time(static_cast<double>(1 + random.below(20)) * 500.0, sc_core::SC_PS));
    const Cycle halves = sc_core::sc_time_stamp().value() / sc_core::sc_time(500, sc_core::SC_PS).value();
    // SystemC leaves what is due exactly at the end of sc_start(duration) to the next one.
    if (halves >= 2) static_cast<void>(plain.run_until(halves / 2 - 1));
    ASSERT_EQ(watched.state(), expected.state()) << "paused at " << sc_core::sc_time_stamp();
  }
  EXPECT_GT(watched.target.seen.size(), 100U);
  EXPECT_LT(watched.target.seen.size(), kItems);
}

}  // namespace tlm_pause_test
}  // namespace warpline::test
