// The law of the transports with cache control: GPUs of odd shapes run random loads, stores, CCTL, fences,
// jumps and calls, in plain C++, in SystemC port to port, over TLM-2.0 sockets and over pins. Cycles,
// counters, memory and what was loaded are equal.
//
// WARPLINE_CONTROL_SEEDS sets how many, WARPLINE_CONTROL_SEED the first.
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/equivalence/control_kernel.h"
#include "tests/platform/machine/random_machine.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace control_law_test {

using test::ControlKernel;
using test::ControlScript;
using test::kControlBytes;

/// What a run leaves.
struct Outcome {
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  std::vector<std::uint8_t> memory;
  std::deque<std::uint64_t> seen;
};

/// A GPU, and the same random grids on it, twice each.
class Machine {
 public:
  Machine(std::uint64_t seed, const GpuConfig& config, std::shared_ptr<NetlistBackend> backend)
      : sms_(config.sms) {
    RunOptions options;
    options.backend = std::move(backend);
    if (seed % 2 == 0) options.jitter = seed;
    platform_ = std::make_unique<GpuPlatform>(config, options);
    const std::uint64_t base = platform_->allocate("data", kControlBytes);
    base_ = base;
    std::vector<std::uint8_t> start(kControlBytes);
    Random random(splitmix64(seed));
    for (std::uint8_t& byte : start) byte = static_cast<std::uint8_t>(random.next());
    platform_->write(base, start.data(), start.size());
    for (unsigned w = 0; w < config.sm.warp_slots; ++w)
      scripts_.push_back(test::random_control(random, 120, base));
    platform_->build();
  }
  Outcome run() {
    Outcome out;
    for (unsigned n = 0; n < 2; ++n) {
      ControlKernel kernel(sms_, scripts_);
      const LaunchResult r = platform_->launch(kernel, n == 0);
      EXPECT_EQ(r.outcome, RunOutcome::quiescent);
      out.cycles.push_back(r.cycles);
      for (const std::uint64_t s : kernel.seen()) out.seen.push_back(s);
    }
    EXPECT_EQ(platform_->unreconciled(), std::vector<std::string>{});
    EXPECT_TRUE(platform_->faults().empty());
    out.counters = AllCounters(*platform_).values();
    out.memory.resize(kControlBytes);
    platform_->read(base_, out.memory.data(), out.memory.size());
    return out;
  }

 private:
  unsigned sms_;
  std::uint64_t base_ = 0;
  std::vector<ControlScript> scripts_;
  std::unique_ptr<GpuPlatform> platform_;
};

GpuConfig machine_of(Random& random) {
  GpuConfig c = random_machine(random);
  c.sm.warp_slots = static_cast<unsigned>(1 + random.below(4));
  c.sm.stack_entries = 8;
  c.sm.stack_depth = 64;
  return c;
}

TEST(ControlLaw, HoldsForEveryCarrier) {
  const std::uint64_t first = from_environment("WARPLINE_CONTROL_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_CONTROL_SEEDS", 12);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  constexpr unsigned kCarriers = 4;
  std::vector<std::array<std::unique_ptr<Machine>, kCarriers>> all(count);
  for (std::uint64_t n = 0; n < count; ++n) {
    Random random(splitmix64(first + n));
    const GpuConfig config = machine_of(random);
    const auto in_systemc = [&](HopTransport transport, std::vector<std::string> pins = {}) {
      return std::make_shared<SystemCBackend>(config.clocks, transport, TickMode::lazy, 1, std::move(pins));
    };
    const std::uint64_t seed = first + n;
    all[n] = {std::make_unique<Machine>(seed, config, nullptr),
              std::make_unique<Machine>(seed, config, in_systemc(HopTransport::direct)),
              std::make_unique<Machine>(seed, config, in_systemc(HopTransport::socket)),
              std::make_unique<Machine>(seed, config, in_systemc(HopTransport::direct, {"sm[0].*"}))};
  }
  for (std::uint64_t n = 0; n < count; ++n) {
    SCOPED_TRACE("WARPLINE_CONTROL_SEEDS=1 WARPLINE_CONTROL_SEED=" + std::to_string(first + n));
    const Outcome plain = all[n][0]->run();
    for (unsigned carrier = 1; carrier < kCarriers; ++carrier) {
      SCOPED_TRACE("carrier " + std::to_string(carrier));
      const Outcome other = all[n][carrier]->run();
      ASSERT_EQ(plain.cycles, other.cycles);
      ASSERT_EQ(plain.counters, other.counters);
      ASSERT_EQ(plain.memory, other.memory);
      ASSERT_EQ(plain.seen, other.seen);
    }
  }
}

}  // namespace control_law_test
}  // namespace warpline::test
