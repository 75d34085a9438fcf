// Random programs on random machines, profiled: nothing changes, every warp-cycle has a reason, what was
// issued is what was counted, and the profile is the same however the hardware is ticked.
//
// WARPLINE_PROFILED_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "platform/profile/profile_file.h"
#include "platform/profile/profiler.h"
#include "tests/programs/random_run.h"

namespace warpline::test {
namespace profiles_test {

struct Profiled {
  Outcome outcome;
  std::vector<KernelProfile> kernels;
  [[nodiscard]] std::string text() const { return profile_text(kernels, "", ""); }
};

Profiled play_profiled(const Program& program, const Contents& start, const GpuConfig& config, TickMode mode,
                       std::uint64_t seed, Timing timing, unsigned threads = 1) {
  Play play(program, start, config, to_ptx(program, start),
            std::make_shared<DirectBackend>(mode, seed, threads));
  // What is loosely timed on a platform that was timed at first is left out.
  if (timing == Timing::loose) play.platform().set_loose(true);
  Profiler& profiler = play.platform().attach(std::make_unique<Profiler>(play.platform()));
  Profiled out;
  out.outcome = play.run(0, timing);
  out.kernels = profiler.kernels();
  return out;
}

/// Of the counters that are the SMs' own, those of that name, added up.
std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& counters, const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& [path, value] : counters) {
    const std::size_t sm = path.find("sm[");
    if (sm != std::string::npos && path.find("].", sm) + 1 == path.rfind('.') &&
        path.substr(path.rfind('.')) == name)
      sum += value;
  }
  return sum;
}

/// `all`: everything was profiled.
void check_sums(const Profiled& profiled, bool all) {
  std::uint64_t issued = 0, lanes = 0, warps = 0;
  for (const KernelProfile& kernel : profiled.kernels) {
    EXPECT_EQ(unreconciled(kernel), std::vector<std::string>{});
    warps += kernel.warps;
    for (const KernelProfile::Row& row : kernel.rows) {
      issued += row.profile.issued;
      lanes += row.profile.lanes;
    }
  }
  EXPECT_LE(issued, sum_of(profiled.outcome.counters, ".instructions"));
  if (!all) return;
  EXPECT_GT(issued, 0U);
  EXPECT_EQ(issued, sum_of(profiled.outcome.counters, ".instructions"));
  EXPECT_EQ(lanes, sum_of(profiled.outcome.counters, ".thread_instructions"));
  EXPECT_EQ(warps, sum_of(profiled.outcome.counters, ".warps"));
}

void try_one(std::uint64_t seed) {
  SCOPED_TRACE("WARPLINE_PROFILED_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const Program program = random_program(random);
  const Contents start = initial_contents(program, random);
  const GpuConfig config = random_machine(random);
  for (const Timing timing : {Timing::timed, Timing::loose}) {
    const Outcome plain = play(program, start, config, to_ptx(program, start),
                               std::make_shared<DirectBackend>(TickMode::lazy, seed), 0, timing);
    const Profiled lazy = play_profiled(program, start, config, TickMode::lazy, seed, timing);
    EXPECT_EQ(plain.cycles, lazy.outcome.cycles);
    EXPECT_EQ(plain.counters, lazy.outcome.counters);
    EXPECT_EQ(difference(lazy.outcome.contents, plain.contents), "");
    check_sums(lazy, true);
    if (timing != Timing::timed) continue;
    const Profiled every = play_profiled(program, start, config, TickMode::every_cycle, seed, timing);
    EXPECT_EQ(lazy.text(), every.text());
    const Profiled threads = play_profiled(program, start, config, TickMode::lazy, seed, timing, 3);
    EXPECT_EQ(lazy.text(), threads.text());
  }
  check_sums(play_profiled(program, start, config, TickMode::lazy, seed, Timing::alternating), false);
}

TEST(Profiles, EveryWarpCycleHasAReason) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_PROFILED_PROGRAMS", 3);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed);
    if (HasFailure()) return;
  }
}

}  // namespace profiles_test
}  // namespace warpline::test
