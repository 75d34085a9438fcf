#include <gtest/gtest.h>

#include "harness.h"
#include "random_machine.h"

namespace warpline::test {
namespace {

struct Outcome {
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.cycles == b.cycles && a.counters == b.counters;
  }
};

Outcome play(const GpuConfig& config, std::uint64_t seed, TickMode mode) {
  GeneratorRun run(config, mode, seed);
  Outcome out;
  Random random(seed);
  for (const char* kind : {"stream", "strided", "random", "reuse", "chase"}) {
    GeneratorParameters p;
    p.kind = kind;
    p.footprint = 1024 * (8 + random.below(64));
    const std::string name = kind;
    if (name == "chase") p.stride = 128;
    if (name == "strided") p.stride = 4 * (1 + random.below(40));
    p.accesses = 20 + random.below(100);
    p.seed = seed;
    p.grid = {static_cast<std::uint32_t>(1 + random.below(5)), 1, 1};
    p.block = {static_cast<std::uint32_t>(32 * (1 + random.below(4))), 1, 1};
    p.base = 1 << 20;
    for (const Problem& fault : p.problems("generator")) ADD_FAILURE() << fault.path << " " << fault.message;
    if (testing::Test::HasFailure()) return out;
    const LaunchResult r = run.launch(p, random.below(2) == 0);
    EXPECT_EQ(r.outcome, RunOutcome::quiescent);
    out.cycles.push_back(r.cycles);
    const std::vector<std::string> faults = run.platform().unreconciled();
    EXPECT_TRUE(faults.empty()) << faults.front() << " seed " << seed;
  }
  out.counters = AllCounters(run.platform()).values();
  return out;
}

TEST(TickModes, LazyEveryCycleAndSpuriousShuffledTicksGiveTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    const GpuConfig config = random_machine(random);
    ASSERT_TRUE(config.problems().empty())
        << config.problems().front().path << config.problems().front().message;
    const Outcome lazy = play(config, seed, TickMode::lazy);
    const Outcome every = play(config, seed, TickMode::every_cycle);
    const Outcome shuffled = play(config, seed, TickMode::spurious_and_shuffled);
    ASSERT_EQ(lazy.cycles, every.cycles) << "seed " << seed;
    ASSERT_EQ(lazy.cycles, shuffled.cycles) << "seed " << seed;
    ASSERT_EQ(lazy.counters, every.counters) << "seed " << seed;
    ASSERT_EQ(lazy.counters, shuffled.counters) << "seed " << seed;
  }
}

TEST(TickModes, TheSameSeedGivesTheSameRunTwice) {
  Random random(99);
  const GpuConfig config = random_machine(random);
  EXPECT_EQ(play(config, 5, TickMode::lazy), play(config, 5, TickMode::lazy));
}

}  // namespace
}  // namespace warpline::test
