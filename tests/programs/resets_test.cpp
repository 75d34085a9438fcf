// Random programs that are reset at a random cycle, whatever is in flight: then the machine is as a new one,
// in every cycle and every counter.
//
// WARPLINE_RESETS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "rtl_models/sim/engine.h"
#include "tests/programs/random_run.h"
#include "tests/support/random_drives.h"

namespace warpline::test {
namespace resets_test {

std::map<std::string, std::uint64_t> counted(GpuPlatform& platform) {
  Observation seen;
  platform.visit(seen);
  return seen.values;
}

/// Returns how many requests were in flight at the reset.
std::size_t try_one(std::uint64_t seed) {
  Random random(splitmix64(seed));
  const Program program = random_program(random);
  const Contents start = initial_contents(program, random);
  GpuConfig config = random_machine(random);
  draw_drives(random, config);
  // Edges of clocks that differ lie otherwise from one cycle to the next.
  config.clocks = {1000, 1000, 1000, 1000};
  const std::string ptx = to_ptx(program, start);
  Play twin(program, start, config, ptx, std::make_shared<DirectBackend>());
  twin.load();
  const Outcome fresh = twin.run();
  EXPECT_TRUE(fresh.complaints.empty()) << ::testing::PrintToString(fresh.complaints);
  Cycle all = 0;
  for (const Cycle c : fresh.cycles) all += c;

  Play reset(program, start, config, ptx, std::make_shared<DirectBackend>());
  reset.load();
  GpuPlatform& platform = reset.platform();
  platform.on_progress(1 + random.below(all), [](double) { return false; });
  Outcome cut;
  reset.run_grids(0, program.grids.size(), cut);
  const std::size_t in_flight = platform.in_flight().size();
  const Diagnostics faults = platform.reset();
  EXPECT_TRUE(faults.empty()) << faults.front().text();
  const Engine& engine = platform.backend().engine();
  EXPECT_TRUE(engine.quiescent());
  EXPECT_EQ(platform.backend().engine().pool().in_use(), 0U);

  platform.on_progress(kNever, nullptr);
  reset.refill();
  const auto before = counted(platform);
  Outcome again;
  reset.run_grids(0, program.grids.size(), again);
  reset.conclude(again);
  EXPECT_EQ(again.cycles, fresh.cycles);
  EXPECT_EQ(difference(again.contents, fresh.contents), "");
  for (auto& [path, value] : again.counters)
    if (const auto earlier = before.find(path); earlier != before.end()) value -= earlier->second;
  EXPECT_EQ(again.counters, fresh.counters);
  return in_flight;
}

TEST(Resets, AtAnyCycleLeaveAMachineThatRunsAsANewOne) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_RESETS", 10);
  std::size_t in_flight = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WARPLINE_RESETS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
    in_flight += try_one(seed);
    if (HasFailure()) return;
  }
  EXPECT_NE(in_flight, 0U) << "requests are in flight when machines are reset";
}

}  // namespace resets_test
}  // namespace warpline::test
