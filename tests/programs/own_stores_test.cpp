// Whatever the operators, a thread sees its own earlier store (PTX ISA, "Memory Consistency Model").
//
// WARPLINE_RANDOM_SEED is the first seed.
#include "tests/programs/own_stores.h"

#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"

namespace warpline::test {
namespace own_stores_test {

class OwnStoresOf : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(OwnStoresOf, AreSeenWhateverTheOperators) {
  const std::uint64_t seed = GetParam() + from_environment("WARPLINE_RANDOM_SEED", 0);
  SCOPED_TRACE("WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const OwnStores program = own_stores(random);
  EXPECT_GT(program.cases.size(), 1000U);
  GpuConfig config = random_machine(random);
  config.l2.poison_discarded = seed % 2 == 0;
  ASSERT_TRUE(config.problems().empty());
  expect_seen(program, config, std::make_shared<DirectBackend>(TickMode::lazy, seed), seed % 4 == 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OwnStoresOf, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace own_stores_test
}  // namespace warpline::test
