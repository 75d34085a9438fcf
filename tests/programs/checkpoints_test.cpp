// Random programs on random machines, stopped at a rest, saved, restored in a new process and continued:
// memory, counters and cycles are those of an uninterrupted twin, to the bit.
//
// WARPLINE_CHECKPOINTS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "tests/programs/checkpoint_child.h"

namespace warpline::test {
namespace checkpoints_test {

/// One in eight is slow, and ticks more than it has to. Loosely timed, ticks are not free.
std::shared_ptr<NetlistBackend> backend_of(const StoppedProgram& stopped, std::uint64_t draw) {
  TickMode mode = TickMode::lazy;
  if (draw % 8 == 0 && stopped.timing == Timing::timed)
    mode = draw % 16 == 0 ? TickMode::every_cycle : TickMode::spurious_and_shuffled;
  return std::make_shared<DirectBackend>(mode, draw);
}

/// Run by the processes that the test below starts.
TEST(Checkpoints, DISABLED_Continue) {
  const Continuation asked = Continuation::asked();
  ASSERT_NE(asked.seed, 0U) << "only another test runs this one";
  const StoppedProgram stopped(asked.seed);
  const auto play = stopped.play(backend_of(stopped, asked.seed + 3));
  continue_there(stopped, *play, asked.folder);
}

TEST(Checkpoints, RandomProgramsStoppedAtRandomRestsGoOnInANewProcessAsIfNothingHadHappened) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_CHECKPOINTS", 5);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("WARPLINE_CHECKPOINTS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
    try_continuation(seed, "Checkpoints.DISABLED_Continue", "direct", backend_of(StoppedProgram(seed), seed));
    if (HasFatalFailure()) return;
  }
}

}  // namespace checkpoints_test
}  // namespace warpline::test
