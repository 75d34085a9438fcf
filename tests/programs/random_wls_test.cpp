// Random `.wls` programs on random machines: memory and registers are those of an interpreter that knows no
// caches, timed and loosely timed, in every tick mode.
//
// WARPLINE_RANDOM_PROGRAMS sets how many there are, WARPLINE_RANDOM_SEED the first one's seed.
#include "tests/programs/random_wls.h"

#include <gtest/gtest.h>

#include "tests/platform/programs/wls/wls_run.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace random_wls_test {

using warpline::test::Observed;
using warpline::test::WlsRun;

void runs(const RandomWls& program, const GpuConfig& config, const RunOptions& options, Observed& counters) {
  WlsRun run(program.text, config, options);
  const LaunchResult result = run.run();
  ASSERT_EQ(result.outcome, RunOutcome::quiescent);
  for (const FaultRecord& f : run.faults()) FAIL() << f.kind << " at " << f.where << "\n" << program.text;
  ASSERT_EQ(run.words("out"), program.out) << program.text;
  ASSERT_EQ(run.words("data"), program.data) << program.text;
  for (const std::string& s : run.platform().unreconciled()) FAIL() << s;
  counters.values.clear();
  run.platform().visit(counters);
  counters.values["cycles"] = result.cycles;
}

TEST(RandomWls, LeavesWhatAnInterpreterLeaves) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_RANDOM_PROGRAMS", 4);
  std::uint64_t spills = 0, flushed = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WARPLINE_RANDOM_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
    Random random(splitmix64(seed));
    const RandomWls program = random_wls(random);
    const GpuConfig config = random_machine(random);
    RunOptions options = WlsRun::limited();
    Observed lazy, other;
    ASSERT_NO_FATAL_FAILURE(runs(program, config, options, lazy));
    options.tick_mode = seed % 2 == 0 ? TickMode::every_cycle : TickMode::spurious_and_shuffled;
    ASSERT_NO_FATAL_FAILURE(runs(program, config, options, other));
    ASSERT_EQ(lazy.values, other.values);
    options.tick_mode = TickMode::lazy;
    options.loose = true;
    ASSERT_NO_FATAL_FAILURE(runs(program, config, options, other));
    for (const auto& [name, value] : lazy.values) {
      if (name.find("stack_spills") != std::string::npos) spills += value;
      if (name.find("local_requests") != std::string::npos) flushed += value;
    }
  }
  if (count < 20) return;
  EXPECT_GT(spills, 1000U);
  EXPECT_GT(flushed, 1000U);
}

}  // namespace random_wls_test
}  // namespace warpline::test
