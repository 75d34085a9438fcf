// Random race-free programs on random machines, in SystemC, with a checker of the base protocol on every hop:
// it has nothing to say, memory is as the interpreter leaves it, and time and counters are as in plain C++.
// One simulation per process.
//
// WARPLINE_RANDOM_SEED is added to the seeds.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "tests/programs/random_run.h"
#include "tests/support/checked_hops.h"

namespace warpline::test {
namespace checked_programs_test {

class CheckedPrograms : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CheckedPrograms, KeepToTheBaseProtocolAndRunAsInPlainCpp) {
  const std::uint64_t seed = GetParam() + from_environment("WARPLINE_RANDOM_SEED", 0);
  Random random(splitmix64(seed));
  const Program program = random_program(random);
  const Contents start = initial_contents(program, random);
  const GpuConfig config = random_machine(random);
  ASSERT_TRUE(config.problems().empty());
  const std::string ptx = to_ptx(program, start);
  Contents wanted = start;
  interpret(program, wanted);
  constexpr TickMode kModes[] = {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled};
  const TickMode mode = kModes[seed % 3];
  const Timing timing = seed % 5 == 0 ? Timing::alternating : Timing::timed;
  const Cycle pace = seed % 2 == 0 ? 500 + seed % 97 : 0;

  const Outcome plain =
      play(program, start, config, ptx, std::make_shared<DirectBackend>(TickMode::lazy, seed), 0, timing);
  test::CheckedHops hops;
  const Outcome checked =
      play(program, start, config, ptx, test::checked_backend(config, hops, mode, seed), pace, timing);
  EXPECT_TRUE(checked.complaints.empty()) << ::testing::PrintToString(checked.complaints);
  EXPECT_EQ(difference(checked.contents, wanted), "");
  if (timing == Timing::timed) {
    EXPECT_EQ(checked.cycles, plain.cycles);
    EXPECT_EQ(checked.counters, plain.counters);
    EXPECT_EQ(hops.loose(), 0U);
  } else {
    EXPECT_GT(hops.loose(), 0U);
  }
  EXPECT_GT(hops.timed() + hops.loose(), 100U);
  hops.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Seeds, CheckedPrograms, ::testing::Range<std::uint64_t>(1, 31));

}  // namespace checked_programs_test
}  // namespace warpline::test
