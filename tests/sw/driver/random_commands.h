#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "tests/sw/driver/command_traffic.h"

namespace warpline::test {

/// `count` random commands to two queues, one that polls and one that interrupts, of a device that completes
/// them in any order: each is done once, with every byte right. `before_looking`: what makes the data of a
/// completion visible, where the completion alone does not.
inline void run_random_commands(
    DriverBench& bench, Random& random, unsigned count, const std::function<void()>& before_looking = [] {}) {
  bench.start(1 + static_cast<unsigned>(random.below(5)), false, 0);
  bench.create(1 + static_cast<unsigned>(random.below(5)), true, 1);
  std::vector<CommandTraffic> traffic;
  for (unsigned q = 0; q < 2; ++q)
    traffic.emplace_back(bench, q, 1 + static_cast<unsigned>(random.below(24)), random.next(), q);
  std::uint64_t completed = 0, submitted = 0;
  while (completed < count) {
    const auto q = static_cast<unsigned>(random.below(2));
    for (std::uint64_t n = random.below(8); n != 0 && submitted < count; --n)
      submitted += traffic[q].submit();
    ASSERT_EQ(wl_peer_ring(&bench.peer, q), WL_OK);
    wl_peer_completion completion{};
    for (std::uint64_t n = random.below(6); n != 0 && traffic[q].under_way != 0; --n) {
      ASSERT_EQ(wl_peer_wait(&bench.peer, q, 10000, &completion), WL_OK) << completed;
      ASSERT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
      before_looking();
      ASSERT_EQ(traffic[q].take(completion), "");
      ++completed;
    }
  }
  EXPECT_EQ(bench.device.core().counters().commands, count);
  std::uint32_t errors = 0;
  EXPECT_EQ(wl_peer_check(&bench.peer, &errors), WL_OK);
  EXPECT_EQ(errors, 0U);
  wl_peer_teardown(&bench.peer);
}

}  // namespace warpline::test
