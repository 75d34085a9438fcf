#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "platform/machine/gpu_platform.h"

namespace warpline::test {

/// A way to run that changes nothing of what is computed.
struct Way {
  const char* name;
  TickMode mode = TickMode::lazy;
  bool loose = false;

  [[nodiscard]] RunOptions options() const {
    RunOptions o;
    o.tick_mode = mode;
    o.loose = loose;
    return o;
  }
};

/// For INSTANTIATE_TEST_SUITE_P, with name_of_way.
inline auto every_way() {
  return testing::Values(Way{"Lazy"}, Way{"EveryCycle", TickMode::every_cycle},
                         Way{"Shuffled", TickMode::spurious_and_shuffled},
                         Way{"Loose", TickMode::lazy, true});
}
inline std::string name_of_way(const testing::TestParamInfo<Way>& way) {
  return way.param.name;
}

/// Runs the same in each tick mode: the cycles and counters must be those of the first.
template <class RunIn>
void expect_same_in_all_tick_modes(const RunIn& run_in) {
  using Outcome = std::pair<Cycle, std::map<std::string, std::uint64_t>>;
  const Outcome lazy = run_in(TickMode::lazy);
  EXPECT_EQ(run_in(TickMode::every_cycle), lazy);
  EXPECT_EQ(run_in(TickMode::spurious_and_shuffled), lazy);
}

}  // namespace warpline::test
