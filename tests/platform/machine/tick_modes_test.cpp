#include <gtest/gtest.h>

#include "tests/platform/machine/generator_runs.h"
#include "tests/platform/machine/random_machine.h"

namespace warpline::test {
namespace tick_modes_test {

TEST(TickModes, LazyEveryCycleAndSpuriousShuffledTicksGiveTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
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

}  // namespace tick_modes_test
}  // namespace warpline::test
