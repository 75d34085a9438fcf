// Random `.wls` programs on machines whose hops are all TLM-2.0 sockets: the same memory, cycles, counters
// profiles and figures over time as without. All machines are elaborated before the first runs, since a
// simulation is elaborated once.
#include <gtest/gtest.h>

#include <deque>

#include "platform/profile/profile_file.h"
#include "platform/profile/profiler.h"
#include "platform/series/figure_sampler.h"
#include "platform/systemc/systemc_backend.h"
#include "tests/platform/programs/wls/wls_run.h"
#include "tests/programs/machine.h"
#include "tests/programs/random_wls.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/series_reader.h"

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
  FigureSampler* sampler = nullptr;
};

/// Every counter, and what queues hold.
FigureSampler& sample(GpuPlatform& platform, const std::string& file) {
  const SampleOptions options{
      100, file, {"*", "warps", "crossbar_queue", "l2_misses", "l2_queue", "dram_queue"}};
  FigureSampler& sampler = platform.attach(std::make_unique<FigureSampler>(platform, options, nullptr));
  EXPECT_TRUE(sampler.start().empty());
  return sampler;
}

TEST(RandomWlsSockets, ChangeNoMemoryAndNoCycle) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  const ScratchFolder folder;
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
    m.sampler = &sample(m.run->platform(), folder.path(std::to_string(seed)));
  }
  for (Machine& m : machines) {
    SCOPED_TRACE("WARPLINE_RANDOM_SEED=" + std::to_string(m.seed));
    WlsRun direct(m.program.text, m.config);
    Profiler& profiler = direct.platform().attach(std::make_unique<Profiler>(direct.platform()));
    FigureSampler& sampler = sample(direct.platform(), folder.path("direct"));
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
    ASSERT_EQ(m.sampler->finish(), "");
    ASSERT_EQ(sampler.finish(), "");
    ASSERT_FALSE(Series::read(folder.path("direct")).rows.empty());
    ASSERT_EQ(text_of(folder.path(std::to_string(m.seed))), text_of(folder.path("direct")));
    for (const KernelProfile& kernel : profiler.kernels())
      ASSERT_EQ(unreconciled(kernel), std::vector<std::string>{});
  }
}

}  // namespace random_wls_sockets_test
}  // namespace warpline::test
