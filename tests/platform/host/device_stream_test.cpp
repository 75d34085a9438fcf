// `.mmio` exactly once at a device behind the root complex: its log is the program's operations.
#include "tests/platform/host/device_stream.h"

#include <gtest/gtest.h>

namespace warpline::test {
namespace device_stream_test {

TEST(DeviceStream, ArrivesOnceInOrderAndInSize) {
  expect_each_operation_at_the_device_once({});
}

TEST(DeviceStream, ArrivesOnceInOrderAndInSizeLooselyTimed) {
  RunOptions options;
  options.loose = true;
  expect_each_operation_at_the_device_once(options);
}

}  // namespace device_stream_test
}  // namespace warpline::test
