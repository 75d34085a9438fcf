// A whole GPU in SystemC, its modules bound to each other: several launches, next to the same in plain C++.
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/platform/machine/harness.h"
#include "tests/platform/machine/random_code.h"
#include "tests/platform/machine/random_machine.h"
#include "tests/support/checked_hops.h"

namespace warpline::test {
namespace systemc_test {

struct Outcome {
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
};

Outcome play(const GpuConfig& config, std::shared_ptr<NetlistBackend> backend) {
  RunOptions options;
  options.tags_only = true;
  options.backend = std::move(backend);
  GpuPlatform platform(config, options);
  platform.map_everything();
  Outcome out;
  for (const char* kind : {"stream", "random", "chase", "strided", "stream"}) {
    GeneratorParameters p;
    p.kind = kind;
    if (std::string(kind) == "chase" || std::string(kind) == "strided") p.stride = 128;
    p.footprint = 64 * 1024;
    p.accesses = 50;
    p.grid = {7, 1, 1};
    p.block = {64, 1, 1};
    p.base = 0x7F0000000000ULL;
    const std::unique_ptr<Kernel> kernel = make_generator(p);
    const LaunchResult r = platform.launch(*kernel);
    EXPECT_EQ(r.outcome, RunOutcome::quiescent) << kind;
    out.cycles.push_back(r.cycles);
  }
  EXPECT_TRUE(platform.unreconciled().empty());
  out.counters = AllCounters(platform).values();
  return out;
}

TEST(GpuInSystemC, NegotiatesEveryHopAndRunsAsInPlainCpp) {
  const GpuConfig config =
      preset("v100", {{"sms=4"}, {"l2.slices=6"}, {"dram.channels=3"}, {"clocks.l2=1111"}});
  const auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  const Outcome plain = play(config, nullptr), in_systemc = play(config, backend);
  EXPECT_EQ(plain.cycles, in_systemc.cycles);
  EXPECT_EQ(plain.counters, in_systemc.counters);
  EXPECT_TRUE(backend->is_direct());
}

TEST(GpuInSystemC, KeepsToTheBaseProtocolOnEveryHop) {
  const GpuConfig config =
      preset("v100", {{"sms=4"}, {"l2.slices=6"}, {"dram.channels=3"}, {"clocks.l2=1111"}});
  test::CheckedHops hops;
  const auto backend = test::checked_backend(config, hops);
  const Outcome plain = play(config, nullptr), checked = play(config, backend);
  EXPECT_EQ(plain.cycles, checked.cycles);
  EXPECT_EQ(plain.counters, checked.counters);
  // Of each SM: L1 by four ports, constant and instruction cache, and bulk copies; of each slice: three.
  EXPECT_EQ(hops.hops(), 4U * 10 + 6U * 3);
  EXPECT_GT(hops.timed(), 1000U);
  hops.expect_clean();
}

/// Random code on a random machine, fetched over `backend`'s hops, against plain C++.
void expect_same_fetches(std::uint64_t seed, HopTransport transport, std::vector<std::string> pins = {}) {
  Random random(seed);
  const GpuConfig config = random_machine(random);
  const auto backend =
      std::make_shared<SystemCBackend>(config.clocks, transport, TickMode::lazy, seed, std::move(pins));
  const FetchOutcome plain = fetch_code(config, seed);
  const FetchOutcome in_systemc = fetch_code(config, seed, TickMode::lazy, backend);
  EXPECT_EQ(plain.cycles, in_systemc.cycles);
  EXPECT_EQ(plain.counters, in_systemc.counters);
  EXPECT_GT(plain.counters.at("sm[0].fetch.requests"), 10U);
}

TEST(GpuInSystemC, FetchesInTheSameCyclesDirectly) {
  expect_same_fetches(2, HopTransport::direct);
}
TEST(GpuInSystemC, FetchesInTheSameCyclesOverSockets) {
  expect_same_fetches(3, HopTransport::socket);
}
TEST(GpuInSystemC, FetchesInTheSameCyclesOverPins) {
  expect_same_fetches(4, HopTransport::direct, {"*instruction*"});
}

}  // namespace systemc_test
}  // namespace warpline::test
