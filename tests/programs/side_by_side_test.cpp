// Random programs on random machines, whose clusters are run side by side by several threads: the same
// cycles, counters and memory as on one, whichever thread runs which cluster when.
//
// WARPLINE_THREADED_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "tests/programs/random_run.h"

namespace warpline::test {
namespace side_by_side_test {

/// Adds to `windows` those that were heard of in which clusters were run side by side.
Outcome play(const Program& program, const Contents& start, const GpuConfig& config, unsigned threads,
             std::uint64_t seed, Timing timing, std::size_t& windows) {
  const auto backend = std::make_shared<DirectBackend>(TickMode::lazy, seed, threads);
  backend->engine().shuffle_clusters(splitmix64(seed + threads));
  backend->engine().on_window([&windows](const Engine::Window&) { ++windows; });
  // Time drawn anew for every grid holds with any number of threads, too.
  const std::optional<std::uint64_t> jitter =
      seed % 4 == 0 ? std::optional<std::uint64_t>(seed) : std::nullopt;
  Play play(program, start, config, to_ptx(program, start), backend, jitter);
  return play.run(500 + seed % 97, timing);
}

void try_one(std::uint64_t seed, std::size_t& windows) {
  SCOPED_TRACE("WARPLINE_THREADED_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const Program program = random_program(random);
  const Contents start = initial_contents(program, random);
  const GpuConfig config = random_machine(random);
  // Between grids that are timed, loosely timed ones go past the channels.
  for (const Timing timing : {Timing::timed, Timing::alternating}) {
    const Outcome one = play(program, start, config, 1, seed, timing, windows);
    ASSERT_TRUE(one.complaints.empty()) << testing::PrintToString(one.complaints);
    for (const unsigned threads : {2U, 3U, 7U}) {
      SCOPED_TRACE(std::to_string(threads) + " threads");
      const Outcome several = play(program, start, config, threads, seed, timing, windows);
      ASSERT_TRUE(several.complaints.empty()) << testing::PrintToString(several.complaints);
      ASSERT_EQ(one.cycles, several.cycles);
      ASSERT_EQ(one.counters, several.counters);
      ASSERT_EQ(one.in_flight, several.in_flight) << "requests listed at pauses";
      ASSERT_EQ(difference(several.contents, one.contents), "");
    }
    if (seed % 8 != 0) break;
  }
}

TEST(SideBySide, ThreadsChangeNothing) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_THREADED_PROGRAMS", 1);
  std::size_t windows = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed, windows);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(windows, 10 * count)
      << "windows in which clusters were run side by side, of which one in 32 is told";
}

}  // namespace side_by_side_test
}  // namespace warpline::test
