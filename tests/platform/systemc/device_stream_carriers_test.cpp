// The same with the GPUs' hops in SystemC.
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/platform/host/device_stream.h"

namespace warpline::test {
namespace device_stream_carriers_test {

void expect_once_over(HopTransport transport, bool loose, std::vector<std::string> pins) {
  RunOptions options;
  options.loose = loose;
  options.backend =
      std::make_shared<SystemCBackend>(preset("mini").clocks, transport, TickMode::lazy, 1, std::move(pins));
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

}  // namespace device_stream_carriers_test
}  // namespace warpline::test
