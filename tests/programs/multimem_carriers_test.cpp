// Random programs of multimem on machines whose hops to and from the switches between GPUs are TLM-2.0
// sockets, or wires: the same memory, cycles and counters as port to port. All machines are elaborated before
// the first runs.
//
// WARPLINE_MULTIMEM_PROGRAMS sets how many programs are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include <deque>

#include "platform/systemc/systemc_backend.h"
#include "tests/programs/machine.h"
#include "tests/programs/multimem_program.h"

namespace warpline::test {
namespace multimem_carriers_test {

struct Machine {
  std::uint64_t seed = 0;
  GpuConfig config;
  std::unique_ptr<MultimemProgram> program;
  std::unique_ptr<GpuPlatform> platform;
};

std::unique_ptr<GpuPlatform> platform_on(const GpuConfig& config, std::shared_ptr<NetlistBackend> backend) {
  RunOptions o;
  o.backend = std::move(backend);
  o.max_cycles = 20'000'000;
  return std::make_unique<GpuPlatform>(config, o);
}

struct Outcome {
  MultimemProgram::Left left;
  std::map<std::string, std::uint64_t> counters;
};

Outcome run(const MultimemProgram& p, GpuPlatform& platform) {
  Outcome o;
  o.left = p.run(platform);
  EXPECT_EQ(platform.unreconciled(), std::vector<std::string>{});
  Observation seen;
  platform.visit(seen);
  o.counters = seen.values;
  return o;
}

TEST(MultimemOverCarriers, ChangesNoMemoryAndNoCycle) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_MULTIMEM_PROGRAMS", 8);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  std::deque<Machine> machines;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Machine& m = machines.emplace_back();
    m.seed = seed;
    Random random(splitmix64(seed ^ 0x5157U));
    m.config = random_machine(random);
    m.config.gpus = static_cast<unsigned>(1 + random.below(3));
    m.config.sms = 1;
    m.config.gpu_switch.count = static_cast<unsigned>(1 + random.below(2));
    m.config.gpu_switch.requests = static_cast<unsigned>(1 + random.below(9));
    m.program = std::make_unique<MultimemProgram>(random, m.config.gpus);
    const std::vector<std::string> pins =
        seed % 3 == 0 ? std::vector<std::string>{"gpu_switch[*].from_gpu*", "gpu_switch[*].to_replica*"}
                      : std::vector<std::string>{};
    m.platform =
        platform_on(m.config, std::make_shared<SystemCBackend>(
                                  m.config.clocks, pins.empty() ? HopTransport::socket : HopTransport::direct,
                                  TickMode::lazy, 1, pins));
    m.platform->build();
  }
  for (Machine& m : machines) {
    SCOPED_TRACE("WARPLINE_MULTIMEM_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(m.seed));
    const auto direct = platform_on(m.config, nullptr);
    const bool loose = m.seed % 4 == 3;
    if (loose) {
      direct->set_loose(true);
      m.platform->set_loose(true);
    }
    const Outcome a = run(*m.program, *m.platform), b = run(*m.program, *direct);
    ASSERT_EQ(a.left.memory, m.program->wanted());
    ASSERT_EQ(b.left.memory, m.program->wanted());
    if (loose) continue;  // what overlaps is up to the world around
    ASSERT_EQ(a.left.cycles, b.left.cycles);
    ASSERT_EQ(a.counters, b.counters);
  }
}

}  // namespace multimem_carriers_test
}  // namespace warpline::test
