// The machine behind the C functions of wl_machine.h.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <sstream>
#include <string>
#include <vector>

#include "platform/host/wl_machine.h"
#include "wl_peer_regs.h"

namespace warpline {
namespace machine_test {

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

#ifndef WARPLINE_SANITIZE  // which needs the address space itself
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

/// What is printed of two accesses where the log keeps so many.
std::vector<std::string> log_of_two(std::size_t entries, bool json) {
  wl_machine_options options{};
  options.log_entries = entries;
  wl_machine* const machine = wl_machine_create(&options);
  const wl_port* const port = wl_machine_port(machine, 0);
  for (unsigned i = 0; i < 2; ++i) port->write(port->context, 0, WL_PEER_SCRATCH_OFFSET(i), 4, i);
  static_cast<void>(port->read(port->context, 4, 0, 4));
  testing::internal::CaptureStdout();
  wl_machine_print_log(machine, 0, json ? 1 : 0);
  std::istringstream printed(testing::internal::GetCapturedStdout());
  wl_machine_destroy(machine);
  std::vector<std::string> lines;
  for (std::string line; std::getline(printed, line);) lines.push_back(line);
  return lines;
}

TEST(Machine, SaysHowMuchOfItsLogWasForgotten) {
  // Firmware has set up the interrupts before.
  const std::size_t all = log_of_two(0, false).size();
  ASSERT_GT(all, 3U);
  EXPECT_EQ(log_of_two(all, true).size(), all);
  for (const std::size_t forgotten : {std::size_t{1}, all - 3}) {
    const std::string count = std::to_string(forgotten);
    const auto text = log_of_two(all - forgotten, false), json = log_of_two(all - forgotten, true);
    ASSERT_EQ(text.size(), all - forgotten + 1);
    EXPECT_EQ(text[0], count + " older accesses were forgotten (log_entries)");
    ASSERT_EQ(json.size(), all - forgotten + 1);
    EXPECT_EQ(json[0], "{\"forgotten\": " + count + "}");
    EXPECT_NE(json[json.size() - 2].find("\"SCRATCH[1]\""), std::string::npos) << "the newest are kept";
  }
}

}  // namespace machine_test
}  // namespace warpline
