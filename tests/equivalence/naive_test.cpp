// Bus-accurate, judged by somebody else: a model that clocks every wire, credit and queue through every cycle
// and knows nothing of events predicts each beat, arrival, pop and END of random traffic over one and several
// hops.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/equivalence/differences.h"
#include "tests/equivalence/mesh.h"
#include "tests/equivalence/naive_mesh.h"
#include "tests/equivalence/watched_hops.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace naive_test {

constexpr Cycle kLimit = 2000000;

/// Random machines of each form: WARPLINE_NAIVE_SEEDS, or a short slice.
std::uint64_t seeds() {
  return from_environment("WARPLINE_NAIVE_SEEDS", 250);
}

struct Machine {
  const char* name;
  MeshShape::Form form;
  std::uint64_t share = 1;  ///< of the seeds: one in so many, as large machines take long
  friend void PrintTo(const Machine& machine, std::ostream* to) { *to << machine.name; }
};

class Naive : public ::testing::TestWithParam<Machine> {};

TEST_P(Naive, PredictsEveryBeatArrivalPopAndEnd) {
  std::size_t messages = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); seed += GetParam().share) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const MeshShape shape(seed, GetParam().form);
    NaiveMesh naive(shape);
    naive.run(kLimit);
    const std::vector<std::string> expected = naive.trace();
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      Engine engine(mode, seed);
      WatchedHops hops;
      MeshParts parts;
      const Mesh mesh(shape, engine, hops, parts);
      ASSERT_EQ(hops.run(engine, kLimit), RunOutcome::quiescent);
      std::vector<std::string> seen = hops.trace();
      messages += seen.size();
      for (const std::string& line : mesh.answers()) seen.push_back(line);
      ASSERT_EQ(differences(expected, seen), std::vector<std::string>{}) << "mode " << static_cast<int>(mode);
    }
  }
  RecordProperty("messages", static_cast<int>(messages));
  EXPECT_GT(messages, 100 * seeds() / GetParam().share) << "messages compared";
}

/// Nobody watches: port to port, blocks of the host's clusters ahead of each other, or side by side.
TEST_P(Naive, PredictsWhenClientsAreAnsweredOverDirectHops) {
  for (std::uint64_t seed = 1; seed <= seeds(); seed += GetParam().share) {
    const MeshShape shape(seed, GetParam().form);
    NaiveMesh naive(shape);
    naive.run(kLimit);
    for (const unsigned threads : {1U, 2U, 7U}) {
      Engine engine;
      engine.set_threads(threads);
      engine.shuffle_clusters(seed);
      DirectHops hops;
      MeshParts parts;
      const Mesh mesh(shape, engine, hops, parts);
      ASSERT_EQ(engine.runs_side_by_side(), threads > 1);
      ASSERT_EQ(engine.run_until(kLimit), RunOutcome::quiescent);
      ASSERT_EQ(differences(naive.answers(), mesh.answers()), std::vector<std::string>{})
          << "seed " << seed << ", " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Naive,
                         ::testing::Values(Machine{"OneHop", MeshShape::Form::one_hop},
                                           Machine{"Chains", MeshShape::Form::chains},
                                           Machine{"Crossbar", MeshShape::Form::crossbar},
                                           Machine{"WideCrossbar", MeshShape::Form::wide_crossbar, 10}),
                         [](const auto& machine) { return machine.param.name; });

}  // namespace naive_test
}  // namespace warpline::test
