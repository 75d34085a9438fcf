// The same with every hop a socket, timed and loosely timed. One simulation per process.
#include <gtest/gtest.h>

#include "own_stores.h"
#include "warpline/gpu/tlm_driver.h"

namespace warpline::test {
namespace {

class OwnStoresOverSockets : public ::testing::TestWithParam<bool> {};

TEST_P(OwnStoresOverSockets, AreSeen) {
  Random random(splitmix64(100 + GetParam()));
  const OwnStores program = own_stores(random);
  GpuConfig config = random_machine(random);
  config.l2.poison_discarded = true;
  expect_seen(program, config, std::make_shared<SystemCDriver>(config.clocks, HopTransport::socket),
              GetParam());
}

INSTANTIATE_TEST_SUITE_P(Timing, OwnStoresOverSockets, ::testing::Bool());

}  // namespace
}  // namespace warpline::test
