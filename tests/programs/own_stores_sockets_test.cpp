// The same with every hop a socket, timed and loosely timed. One simulation per process.
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/programs/own_stores.h"

namespace warpline::test {
namespace own_stores_sockets_test {

class OwnStoresOverSockets : public ::testing::TestWithParam<bool> {};

TEST_P(OwnStoresOverSockets, AreSeen) {
  Random random(splitmix64(100 + GetParam()));
  const OwnStores program = own_stores(random);
  GpuConfig config = random_machine(random);
  config.l2.poison_discarded = true;
  expect_seen(program, config, std::make_shared<SystemCBackend>(config.clocks, HopTransport::socket),
              GetParam());
}

INSTANTIATE_TEST_SUITE_P(Timing, OwnStoresOverSockets, ::testing::Bool());

}  // namespace own_stores_sockets_test
}  // namespace warpline::test
