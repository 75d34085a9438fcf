#pragma once

#include <vector>

#include "tests/platform/consistency/bench.h"

namespace warpline::test {

/// The outcome in question, in runs of a test on mini changed by `overrides`; as soon as it has been seen, no
/// more follow. `must_end`: a run that does not fails the test.
inline bool is_seen(const litmus::Test& test, const std::vector<std::string>& overrides, std::uint64_t runs,
                    bool must_end = true) {
  constexpr std::uint64_t kAtATime = 1000;
  litmus::Machine machine(load_gpu("mini", overrides).value());
  EXPECT_TRUE(machine.refusals(test).empty()) << test.name;
  for (std::uint64_t seed = 0; seed * kAtATime < runs; ++seed) {
    const litmus::RunReport report = litmus::run(machine, test, {kAtATime, seed});
    EXPECT_TRUE(report.stuck == 0 || !must_end) << test.name;
    if (report.in_question != 0) return true;
  }
  return false;
}

}  // namespace warpline::test
