// The laws can fail: faults of the kinds that they are there to find are put into parts of a netlist, and the
// same comparison that finds no difference without them finds one with each. Which comparison finds which
// fault is part of what is said here.
#include <gtest/gtest.h>

#include "tests/equivalence/differences.h"
#include "tests/equivalence/mesh.h"
#include "tests/equivalence/naive_mesh.h"
#include "tests/equivalence/plain_switch.h"
#include "tests/equivalence/watched_hops.h"

namespace warpline::test {
namespace seeded_faults_test {

constexpr std::uint64_t kSeeds = 60;
constexpr Cycle kLimit = 200000;

class PlainParts : public MeshParts {
 public:
  std::unique_ptr<Switch> make_switch(Engine& engine, const MeshShape& shape) override {
    return std::make_unique<PlainSwitch>(engine, shape);
  }
};

template <class S>
class PartsWithSwitch final : public MeshParts {
 public:
  std::unique_ptr<Switch> make_switch(Engine& engine, const MeshShape& shape) override {
    return std::make_unique<S>(engine, shape);
  }
};

template <class S>
class PartsWithServer final : public PlainParts {
 public:
  std::unique_ptr<Server> make_server(Engine& engine, const MeshShape& shape, unsigned i) override {
    return std::make_unique<S>(engine, "server", shape, shape.server_seed + i);
  }
};

class TurnMovesPerTick final : public PlainSwitch {
 public:
  using PlainSwitch::PlainSwitch;

 private:
  void before_grants(Turns& down, Turns& up) override {
    for (unsigned& turn : down) turn = (turn + 1) % static_cast<unsigned>(up.size());
    for (unsigned& turn : up) turn = (turn + 1) % static_cast<unsigned>(down.size());
  }
};

class LoserNotWoken final : public PlainSwitch {
 public:
  using PlainSwitch::PlainSwitch;

 private:
  [[nodiscard]] bool wakes_losers() const override { return false; }
};

class RandomPerTick final : public Server {
 public:
  using Server::Server;
  Cycle tick(Cycle now) override {
    random().next();
    return Server::tick(now);
  }
};

/// On how many of the random machines a comparison found a difference.
struct Found {
  unsigned every_cycle = 0;  ///< ticked every cycle, instead of lazily
  unsigned shuffled = 0;     ///< with spurious and shuffled ticks
  unsigned carrier = 0;      ///< with these hops, instead of direct ones
  unsigned naive = 0;        ///< with what the naive model predicts
};

class SeededFaults : public ::testing::Test {
 protected:
  static std::vector<std::string> trace(const MeshShape& shape, TickMode mode, MeshParts& parts,
                                        EndRule rule) {
    Engine engine(mode, 5);
    WatchedHops hops(rule);
    const Mesh mesh(shape, engine, hops, parts);
    hops.run(engine, kLimit);
    std::vector<std::string> lines = hops.trace();
    for (const std::string& line : mesh.answers()) lines.push_back(line);
    return lines;
  }
  static std::vector<std::string> answers(const MeshShape& shape, MeshParts& parts, HopMaker& hops) {
    Engine engine;
    const Mesh mesh(shape, engine, hops, parts);
    engine.run_until(kLimit);
    return mesh.answers();
  }
  static Found compare(MeshParts& parts, EndRule rule = end_rules::faithful) {
    Found found;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const MeshShape shape(seed, MeshShape::Form::crossbar, MeshShape::Requests::no_maintenance);
      const auto lazy = trace(shape, TickMode::lazy, parts, rule);
      found.every_cycle += !differences(lazy, trace(shape, TickMode::every_cycle, parts, rule)).empty();
      found.shuffled +=
          !differences(lazy, trace(shape, TickMode::spurious_and_shuffled, parts, rule)).empty();
      DirectHops direct;
      WatchedHops watched(rule);
      found.carrier += !differences(answers(shape, parts, direct), answers(shape, parts, watched)).empty();
      NaiveMesh naive(shape);
      naive.run(kLimit);
      found.naive += !differences(naive.trace(), lazy).empty();
    }
    return found;
  }
  static void expect_found_by_all_but_carriers(MeshParts& parts) {
    const Found found = compare(parts);
    EXPECT_GT(found.every_cycle, 0U);
    EXPECT_GT(found.shuffled, 0U);
    EXPECT_GT(found.naive, 0U);
    EXPECT_EQ(found.carrier, 0U) << "carriers share it";
  }
  static void expect_found_by_all_but_tick_modes(EndRule rule) {
    PlainParts parts;
    const Found found = compare(parts, rule);
    EXPECT_GT(found.carrier, 0U);
    EXPECT_GT(found.naive, 0U);
    EXPECT_EQ(found.every_cycle + found.shuffled, 0U) << "tick modes share it";
  }
};

TEST_F(SeededFaults, WithoutAnyNothingIsFound) {
  PlainParts parts;
  const Found found = compare(parts);
  EXPECT_EQ(found.every_cycle, 0U);
  EXPECT_EQ(found.shuffled, 0U);
  EXPECT_EQ(found.carrier, 0U);
  EXPECT_EQ(found.naive, 0U);
}

TEST_F(SeededFaults, ATurnThatMovesPerTickIsFoundByTickModesAndTheNaiveModel) {
  PartsWithSwitch<TurnMovesPerTick> parts;
  expect_found_by_all_but_carriers(parts);
}

TEST_F(SeededFaults, ALoserThatIsNotWokenIsFoundByTickModesAndTheNaiveModel) {
  PartsWithSwitch<LoserNotWoken> parts;
  expect_found_by_all_but_carriers(parts);
}

TEST_F(SeededFaults, ARandomNumberDrawnPerTickIsFoundByTickModesAndTheNaiveModel) {
  PartsWithServer<RandomPerTick> parts;
  expect_found_by_all_but_carriers(parts);
}

TEST_F(SeededFaults, ACreditVisibleTooEarlyIsFoundByTheOtherCarrierAndTheNaiveModel) {
  expect_found_by_all_but_tick_modes(end_rules::credit_too_early);
}

TEST_F(SeededFaults, AnEndRoundedToAnEdgeIsFoundByTheOtherCarrierAndTheNaiveModel) {
  expect_found_by_all_but_tick_modes(end_rules::rounded_to_receivers_edge);
}

TEST_F(SeededFaults, AnEndRoundedToTheSendersEdgeIsFoundByTheNaiveModelAlone) {
  PlainParts parts;
  const Found found = compare(parts, end_rules::rounded_to_senders_edge);
  EXPECT_GT(found.naive, 0U);
  EXPECT_EQ(found.carrier, 0U) << "no message moves in another cycle";
}

}  // namespace seeded_faults_test
}  // namespace warpline::test
