#include <gtest/gtest.h>

#include <algorithm>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/root_complex/iommu.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/sim/run_outcome.h"
#include "tests/support/environment.h"
#include "tests/sw/driver/random_commands.h"

namespace warpline {
namespace commands_test {

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
  const std::uint64_t count = from_environment("WARPLINE_COMMANDS", 4000);
  for (std::uint64_t i = 0; i < count / 200; ++i) run_commands(seed + i, 200, i % 4 == 3);
}

TEST(Commands, ReachTheLastByteOfTheBus) {
  for (const bool loose : {false, true}) {
    test::BenchOfDriver bench({}, loose);
    bench.start();
    auto* const memory = static_cast<std::uint8_t*>(bench.host.allocate(4096, 4096));
    Iommu::Window last;
    last.address = ~std::uint64_t{4095};
    last.physical = *bench.host.physical(memory, 4096);
    last.bytes = 4096;
    ASSERT_TRUE(bench.system.root().core().iommu().map(bench.host.devices()[0].domain, last));
    for (unsigned i = 0; i < 4096; ++i) memory[i] = static_cast<std::uint8_t>(i / 8);
    wl_peer_command copy{};
    copy.opcode = WL_PEER_OPCODE_COPY;
    copy.length = 2048;
    copy.source = last.address;
    copy.destination = last.address + 2048;
    wl_peer_completion completion{};
    ASSERT_EQ(bench.run(copy, completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    EXPECT_TRUE(std::equal(memory, memory + 2048, memory + 2048));
    std::swap(copy.source, copy.destination);
    memory[4095] = 0xAA;
    ASSERT_EQ(bench.run(copy, completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    EXPECT_EQ(memory[2047], 0xAA);
    ++copy.source;
    ASSERT_EQ(bench.run(copy, completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_BAD_LENGTH);
  }
}

}  // namespace commands_test
}  // namespace warpline
