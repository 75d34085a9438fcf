#include <gtest/gtest.h>

#include "environment.h"
#include "random_commands.h"

namespace warpline {
namespace {

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

void run_commands(std::uint64_t seed, unsigned count, bool loose) {
  SCOPED_TRACE("seed " + std::to_string(seed) + (loose ? ", loosely timed" : ", timed"));
  Random random(seed);
  test::BenchOfDriver bench(draw_parameters(random), loose);
  test::run_random_commands(bench, random, count);
  EXPECT_EQ(bench.system.root().core().iommu().fault_count(), 0U);
}

/// The whole: WARPLINE_COMMANDS=100000.
TEST(Commands, AreEachDoneOnceWithEveryByteRight) {
  const std::uint64_t seed = from_environment("WARPLINE_COMMAND_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_COMMANDS", 8000);
  for (std::uint64_t i = 0; i < count / 200; ++i) run_commands(seed + i, 200, i % 4 == 3);
}

}  // namespace
}  // namespace warpline
