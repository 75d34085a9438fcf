#include <gtest/gtest.h>

#include "command_traffic.h"
#include "environment.h"

namespace warpline {
namespace {

using test::BenchOfDriver;
using test::CommandTraffic;

/// A machine of odd shape.
PcieSystemParameters draw_parameters(Random& random) {
  PcieSystemParameters p;
  constexpr std::array<unsigned, 4> kPayloads = {128, 256, 512, 1024};
  p.device.max_payload = kPayloads[random.below(kPayloads.size())];
  p.device.max_read_request = kPayloads[random.below(kPayloads.size())];
  p.device.completion_boundary = random.below(2) == 0 ? 64 : 128;
  p.device.tags = 1 + static_cast<unsigned>(random.below(40));
  p.device.latency = 1 + static_cast<unsigned>(random.below(200));
  p.device.bytes_per_cycle = 1U << random.below(6);
  p.device.posted_credits = p.device.non_posted_credits = 2 + static_cast<unsigned>(random.below(40));
  p.root.memory_channels = 1 + static_cast<unsigned>(random.below(4));
  p.peer.commands = 1 + static_cast<unsigned>(random.below(20));
  p.peer.write_queue = 1 + static_cast<unsigned>(random.below(12));
  p.peer.completion_spread = static_cast<unsigned>(random.below(2) * random.below(3000));
  p.peer.seed = random.next();
  return p;
}

/// Random commands to two queues, one that polls and one that interrupts; completions come in any order.
void run_commands(std::uint64_t seed, unsigned count, bool loose) {
  SCOPED_TRACE("seed " + std::to_string(seed) + (loose ? ", loosely timed" : ", timed"));
  Random random(seed);
  BenchOfDriver bench(draw_parameters(random), loose);
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
      ASSERT_EQ(traffic[q].take(completion), "");
      ++completed;
    }
  }
  EXPECT_EQ(bench.system.peer(0).core().counters().commands, count);
  EXPECT_EQ(bench.system.root().core().iommu().fault_count(), 0U);
  std::uint32_t errors = 0;
  EXPECT_EQ(wl_peer_check(&bench.peer, &errors), WL_OK);
  EXPECT_EQ(errors, 0U);
  wl_peer_teardown(&bench.peer);
}

/// The whole: WARPLINE_COMMANDS=100000.
TEST(Commands, AreEachDoneOnceWithEveryByteRight) {
  const std::uint64_t seed = from_environment("WARPLINE_COMMAND_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_COMMANDS", 8000);
  for (std::uint64_t i = 0; i < count / 200; ++i) run_commands(seed + i, 200, i % 4 == 3);
}

}  // namespace
}  // namespace warpline
