// The same with the GPUs' hops in SystemC.
#include <gtest/gtest.h>

#include "device_stream.h"
#include "warpline/gpu/tlm_driver.h"

namespace warpline::test {
namespace {

void expect_once_over(HopTransport transport, bool loose, std::vector<std::string> pins) {
  RunOptions options;
  options.loose = loose;
  options.driver =
      std::make_shared<SystemCDriver>(preset("mini").clocks, transport, TickMode::lazy, 1, std::move(pins));
  expect_each_operation_at_the_device_once(options);
}

TEST(DeviceStreamInSystemC, ArrivesOnceOverDirectHops) {
  expect_once_over(HopTransport::direct, false, {});
}

TEST(DeviceStreamInSystemC, ArrivesOnceOverSockets) {
  expect_once_over(HopTransport::socket, false, {});
}

TEST(DeviceStreamInSystemC, ArrivesOnceOverSocketsLooselyTimed) {
  expect_once_over(HopTransport::socket, true, {});
}

TEST(DeviceStreamInSystemC, ArrivesOnceOverPins) {
  expect_once_over(HopTransport::direct, false, {"*"});
}

}  // namespace
}  // namespace warpline::test
