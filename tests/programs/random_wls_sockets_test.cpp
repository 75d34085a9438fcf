// Random `.wls` programs on machines whose hops are all TLM-2.0 sockets: the same memory, cycles, counters
// and profiles as without. All machines are elaborated before the first runs, since a simulation is
// elaborated once.
#include <gtest/gtest.h>

#include <deque>

#include "platform/profile/profile_file.h"
#include "platform/profile/profiler.h"
#include "platform/systemc/systemc_backend.h"
#include "tests/platform/programs/wls/wls_run.h"
#include "tests/programs/machine.h"
#include "tests/programs/random_wls.h"

namespace warpline::test {
namespace random_wls_sockets_test {

using warpline::test::Observed;
using warpline::test::WlsRun;

struct Machine {
  std::uint64_t seed = 0;
  RandomWls program;
  GpuConfig config;
  std::unique_ptr<WlsRun> run;
  Profiler* profiler = nullptr;
};

TEST(RandomWlsSockets, ChangeNoMemoryAndNoCycle) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  std::deque<Machine> machines;
  for (std::uint64_t seed = first; seed < first + 10; ++seed) {
    Machine& m = machines.emplace_back();
    m.seed = seed;
    Random random(splitmix64(seed));
    m.program = random_wls(random);
    m.config = random_machine(random);
    RunOptions options = WlsRun::limited();
    options.backend = std::make_shared<SystemCBackend>(m.config.clocks, HopTransport::socket);
    m.run = std::make_unique<WlsRun>(m.program.text, m.config, options);
    m.profiler = &m.run->platform().attach(std::make_unique<Profiler>(m.run->platform()));
  }
  for (Machine& m : machines) {
    SCOPED_TRACE("WARPLINE_RANDOM_SEED=" + std::to_string(m.seed));
    WlsRun direct(m.program.text, m.config);
    Profiler& profiler = direct.platform().attach(std::make_unique<Profiler>(direct.platform()));
    const LaunchResult a = m.run->run(), b = direct.run();
    ASSERT_EQ(a.outcome, RunOutcome::quiescent);
    ASSERT_EQ(m.run->words("out"), m.program.out) << m.program.text;
    ASSERT_EQ(m.run->words("data"), m.program.data) << m.program.text;
    ASSERT_EQ(a.cycles, b.cycles);
    Observed over_sockets, port_to_port;
    m.run->platform().visit(over_sockets);
    direct.platform().visit(port_to_port);
    ASSERT_EQ(over_sockets.values, port_to_port.values);
    ASSERT_EQ(profile_text(m.profiler->kernels(), "", ""), profile_text(profiler.kernels(), "", ""));
    for (const KernelProfile& kernel : profiler.kernels())
      ASSERT_EQ(unreconciled(kernel), std::vector<std::string>{});
  }
}

}  // namespace random_wls_sockets_test
}  // namespace warpline::test
