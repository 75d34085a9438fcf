// Random programs of clusters on machines whose hops between SMs are TLM-2.0 sockets, or wires: the same
// memory, cycles and counters as port to port. All machines are elaborated before the first runs.
//
// WARPLINE_CLUSTER_PROGRAMS sets how many programs are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include <deque>

#include "platform/systemc/systemc_backend.h"
#include "tests/programs/cluster_program.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace clusters_carriers_test {

struct Machine {
  std::uint64_t seed = 0;
  bool loose = false;
  GpuConfig config;
  ClusterProgram program;
  std::unique_ptr<Bench> bench;
};

struct Left {
  Cycle cycles = 0;
  std::vector<std::uint32_t> left, shared;
  std::map<std::string, std::uint64_t> counters;
};

Left run(const ClusterProgram& p, Bench& bench) {
  const std::uint64_t left = bench.put(std::vector<std::uint32_t>(p.left.size()));
  const std::uint64_t shared = bench.put(std::vector<std::uint32_t>(p.shared.size()));
  const std::uint64_t given = bench.put(p.given);
  const LaunchResult r = bench.launch("k", p.ctas * p.clusters, p.threads, {left, shared, given});
  EXPECT_EQ(r.outcome, RunOutcome::quiescent);
  EXPECT_EQ(bench.platform().unreconciled(), std::vector<std::string>{});
  Observation seen;
  bench.platform().visit(seen);
  return {r.cycles, bench.get<std::uint32_t>(left, p.left.size()),
          bench.get<std::uint32_t>(shared, p.shared.size()), seen.values};
}

TEST(ClustersOverCarriers, ChangeNoMemoryAndNoCycle) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_CLUSTER_PROGRAMS", 10);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_DO_NOTHING);
  std::deque<Machine> machines;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Machine& m = machines.emplace_back();
    m.seed = seed;
    Random random(splitmix64(seed));
    m.config = random_machine_of_clusters(random);
    m.program = random_cluster_program(random, m.config);
    const std::vector<std::string> pins =
        seed % 3 == 0 ? std::vector<std::string>{"sm_network.from_sm*", "*.from_cluster"}
                      : std::vector<std::string>{};
    m.loose = seed % 5 == 4;
    const auto backend = std::make_shared<SystemCBackend>(
        m.config.clocks, pins.empty() ? HopTransport::socket : HopTransport::direct, TickMode::lazy, 1, pins);
    m.bench = std::make_unique<Bench>(m.config, m.program.text, backend, 3'000'000);
    m.bench->platform().build();
  }
  for (Machine& m : machines) {
    SCOPED_TRACE("WARPLINE_CLUSTER_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(m.seed));
    Bench direct(m.config, m.program.text, TickMode::lazy, 1, 3'000'000);
    if (m.loose) {
      direct.platform().set_loose(true);
      m.bench->platform().set_loose(true);
    }
    const Left a = run(m.program, *m.bench), b = run(m.program, direct);
    ASSERT_EQ(a.left, m.program.left);
    ASSERT_EQ(a.shared, m.program.shared);
    ASSERT_EQ(b.left, m.program.left);
    if (m.loose) continue;  // what overlaps is up to the world around
    ASSERT_EQ(a.cycles, b.cycles);
    ASSERT_EQ(a.counters, b.counters);
  }
}

}  // namespace clusters_carriers_test
}  // namespace warpline::test
