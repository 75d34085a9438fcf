// A driver that somebody wrote from the manual, the guide and the header alone, without having seen the model
// or its driver. It stays as it was written.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "rtl_models/queue_device/queue_device.h"
#include "tests/sw/driver/bench_of_driver.h"

extern "C" int twenty_lines(const wl_port* port, void* ring_memory, std::uint32_t value);

namespace warpline {
namespace twenty_lines_test {

TEST(TwentyLines, WorkTheFirstTime) {
  for (const bool loose : {false, true}) {
    test::BenchOfDriver bench({}, loose);
    void* const memory = bench.host.allocate(4096, 4096);
    EXPECT_EQ(twenty_lines(&bench.host.port_of(0), memory, 0xC0FFEE), 0);
    EXPECT_EQ(bench.system.peer(0).core().counters().commands, 1U);
    EXPECT_EQ(bench.system.peer(0).core().counters().bad_accesses, 0U);
  }
}

TEST(TwentyLines, SayWhereThereIsNoDevice) {
  test::BenchOfDriver bench;
  void* const memory = bench.host.allocate(4096, 4096);
  const wl_port& port = bench.host.port_of(0);
  bench.system.set_present(0, false);
  EXPECT_NE(twenty_lines(&port, memory, 1), 0);
}

TEST(TwentyLines, AreTwentyLines) {
  std::ifstream in(WARPLINE_SOURCE_DIR "/tests/sw/driver/twenty_lines.c");
  unsigned count = 0;
  bool comment = false;
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] == '#') continue;
    comment = comment || line.compare(first, 2, "/*") == 0;
    count += !comment;
    if (line.find("*/") != std::string::npos) comment = false;
  }
  EXPECT_GT(count, 10U);
  EXPECT_LE(count, 20U);
}

}  // namespace twenty_lines_test
}  // namespace warpline
