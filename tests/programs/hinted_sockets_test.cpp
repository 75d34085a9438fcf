// Hints change nothing over TLM-2.0 sockets either: random programs with every kind of hint, each on a
// machine of its own whose hops are all sockets, leave the memory of the same program without hints. All
// machines are elaborated before the first runs, since a simulation is elaborated once.
//
// WARPLINE_HINTED_MACHINES sets how many there are, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include <deque>

#include "platform/systemc/systemc_backend.h"
#include "tests/programs/hints.h"
#include "tests/programs/random_run.h"

namespace warpline::test {
namespace hinted_sockets_test {

struct Machine {
  std::uint64_t seed = 0;
  Program program;
  Contents start;
  std::unique_ptr<Play> play;
};

TEST(HintedSockets, ChangeNoMemoryAndNoRegister) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_HINTED_MACHINES", 6);
  // Every machine calls its modules alike.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  std::deque<Machine> machines;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Machine& m = machines.emplace_back();
    m.seed = seed;
    Random random(splitmix64(seed));
    m.program = random_program(random);
    m.start = initial_contents(m.program, random);
    const GpuConfig config = random_machine(random);
    auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::socket);
    m.play =
        std::make_unique<Play>(m.program, m.start, config, to_ptx(m.program, m.start), std::move(backend));
    m.play->build();
  }
  for (Machine& m : machines) {
    SCOPED_TRACE("WARPLINE_HINTED_MACHINES=1 WARPLINE_RANDOM_SEED=" + std::to_string(m.seed));
    Contents wanted = m.start;
    interpret(without_hints(m.program), wanted);
    const Outcome out = m.play->run();
    ASSERT_TRUE(out.complaints.empty()) << ::testing::PrintToString(out.complaints);
    ASSERT_EQ(difference(out.contents, wanted), "");
  }
}

}  // namespace hinted_sockets_test
}  // namespace warpline::test
