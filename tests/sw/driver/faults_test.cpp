#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/sw/driver/accident.h"

namespace warpline::test {
namespace faults_test {

/// The whole: WARPLINE_FAULTS=10000 of each kind.
TEST(Faults, AreReportedAndSurvivedWheneverTheyHappen) {
  const std::uint64_t count = from_environment("WARPLINE_FAULTS", 20);
  const std::uint64_t start = from_environment("WARPLINE_FAULT_SEED", 1);
  for (const Fault fault : kFaults) {
    std::uint64_t reported = 0;
    for (std::uint64_t seed = start; seed < start + count; ++seed) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + ", seed " + std::to_string(seed));
      Accident accident(fault, seed);
      accident.run();
      if (::testing::Test::HasFailure()) return;
      reported += accident.reported();
    }
    EXPECT_GT(reported, count / 20) << "fault " << static_cast<int>(fault) << " happens too late to matter";
  }
}

}  // namespace faults_test
}  // namespace warpline::test
