// BEGIN and END on a socket are the occupancy of a channel: the naive model predicts their cycles for every
// message on every hop. And it finds a foreign module that passes ENDs on wrongly.
#include <gtest/gtest.h>

#include "tests/equivalence/differences.h"
#include "tests/equivalence/mesh.h"
#include "tests/equivalence/probed_hops.h"

namespace warpline::test {
namespace socket_naive_test {

struct Variant {
  const char* name;
  HopTransport transport;
  unsigned probed_percent;
  TickMode mode;
};

constexpr Variant kVariants[] = {
    {"all probed", HopTransport::socket, 100, TickMode::lazy},
    {"all probed, every cycle", HopTransport::socket, 100, TickMode::every_cycle},
    {"all probed, shuffled", HopTransport::socket, 100, TickMode::spurious_and_shuffled},
    {"some probed, others direct", HopTransport::direct, 40, TickMode::lazy},
};

/// One machine in SystemC.
struct Carried {
  Carried(const MeshShape& shape, const Variant& v, std::uint64_t seed, EndRule rule)
      : module(sc_core::sc_gen_unique_name("engine"), 700 + static_cast<unsigned>(seed * 37 % 1000),
               v.transport, v.mode, seed),
        hops(module, v.probed_percent, seed, rule),
        mesh(shape, module.engine(), hops, parts) {}
  EngineProcess module;
  MeshParts parts;
  ProbedHops hops;
  Mesh mesh;
};

struct Found {
  std::size_t messages = 0;  ///< seen by probes
  unsigned machines = 0;     ///< in which occupancies differ from the predicted ones
  unsigned answers = 0;      ///< in which answers do
  std::string first;         ///< difference
};

/// Pre: called once in a process, which elaborates once.
Found compare(std::uint64_t seeds, EndRule rule) {
  std::vector<std::vector<std::unique_ptr<Carried>>> runs;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const MeshShape shape(seed, MeshShape::Form::crossbar);
    runs.emplace_back();
    for (const Variant& v : kVariants) runs.back().push_back(std::make_unique<Carried>(shape, v, seed, rule));
  }
  sc_core::sc_start();
  Found found;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const MeshShape shape(seed, MeshShape::Form::crossbar);
    NaiveMesh naive(shape);
    naive.run(2000000);
    for (std::size_t v = 0; v < std::size(kVariants); ++v) {
      const Carried& run = *runs[seed - 1][v];
      EXPECT_EQ(runs[seed - 1][v]->module.outcome(), RunOutcome::quiescent);
      const std::vector<std::string> seen = run.hops.seen();
      found.messages += seen.size();
      const auto occupancies = differences(run.hops.predicted(naive), seen);
      const auto answers = differences(naive.answers(), run.mesh.answers());
      found.machines += !occupancies.empty();
      found.answers += !answers.empty();
      if (found.first.empty() && !occupancies.empty())
        found.first = "seed " + std::to_string(seed) + ", " + kVariants[v].name + ": " + occupancies.front();
    }
  }
  return found;
}

TEST(SocketNaive, BeginAndEndOfEveryMessageAreAsPredicted) {
  const Found found = compare(100, end_rules::faithful);
  EXPECT_EQ(found.machines, 0U) << found.first;
  EXPECT_EQ(found.answers, 0U);
  EXPECT_GT(found.messages, 100000U);
}

TEST(SocketNaive, FindsACreditVisibleTooEarly) {
  const Found found = compare(15, end_rules::credit_too_early);
  EXPECT_GT(found.machines, 0U);
  EXPECT_GT(found.answers, 0U);
}

TEST(SocketNaive, FindsAnEndRoundedToTheReceiversEdge) {
  const Found found = compare(15, end_rules::rounded_to_receivers_edge);
  EXPECT_GT(found.machines, 0U);
  EXPECT_GT(found.answers, 0U);
}

TEST(SocketNaive, FindsAnEndRoundedToTheSendersEdge) {
  const Found found = compare(15, end_rules::rounded_to_senders_edge);
  EXPECT_GT(found.machines, 0U);
  EXPECT_EQ(found.answers, 0U) << "no message moves in another cycle";
}

}  // namespace socket_naive_test
}  // namespace warpline::test
