// The machine behind the C functions of wl_machine.h.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "warpline/host/wl_machine.h"

namespace warpline {
namespace {

/// What stderr says when a machine with so much memory is asked for, which there is not.
std::string refusal(std::size_t memory_bytes) {
  wl_machine_options options{};
  options.memory_bytes = memory_bytes;
  testing::internal::CaptureStderr();
  EXPECT_EQ(wl_machine_create(&options), nullptr) << memory_bytes;
  return testing::internal::GetCapturedStderr();
}

TEST(Machine, IsRefusedWithMemoryThatNoMachineHas) {
  for (const std::size_t bytes : {std::size_t{8191}, (std::size_t{1} << 40U) + 4096, ~std::size_t{0}})
    EXPECT_EQ(refusal(bytes), "wl_machine: a machine has between 8 KiB and 1 TiB of memory, not " +
                                  std::to_string(bytes) + " bytes\n");
}

#ifndef __SANITIZE_ADDRESS__  // which needs the address space itself
TEST(Machine, IsRefusedWhereTheHostHasNoRoomForIt) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit less = before;
  less.rlim_cur = rlim_t{1} << 38U;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
  EXPECT_EQ(refusal(std::size_t{1} << 40U),
            "wl_machine: there is no room for a machine with 1099511627776 bytes of memory\n");
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}
#endif

}  // namespace
}  // namespace warpline
