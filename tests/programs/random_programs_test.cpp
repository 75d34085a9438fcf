// Random race-free programs on random machines, against an interpreter that knows no caches: the same memory
// at the end, counters that reconcile, and the same time whatever the ticks; loosely timed and functionally,
// the same memory.
//
// WARPLINE_RANDOM_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "platform/machine/direct_backend.h"
#include "tests/programs/random_run.h"

namespace warpline::test {
namespace random_programs_test {

/// In plain C++; lazily with pauses, at which what is in flight is listed.
Outcome play(const Program& program, const Contents& start, const GpuConfig& config, const std::string& ptx,
             TickMode mode, std::uint64_t seed, Timing timing = Timing::timed) {
  return play(program, start, config, ptx, std::make_shared<DirectBackend>(mode, seed),
              mode == TickMode::lazy ? 500 + seed % 97 : 0, timing);
}

/// Leaves out one statement after the other, innermost first, as long as `fails` still holds.
template <class Fails>
void shrink(std::vector<Statement>& list, const Fails& fails) {
  for (std::size_t i = list.size(); i-- > 0;) {
    shrink(list[i].body, fails);
    shrink(list[i].otherwise, fails);
    const Statement left_out = list[i];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (!fails()) list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), left_out);
  }
}

/// The shortest program found that goes wrong as `program` does.
Program shortest(Program program, const Contents& start, const GpuConfig& config, std::uint64_t seed) {
  const auto fails = [&] {
    Contents wanted = start;
    interpret(program, wanted);
    const Outcome out = play(program, start, config, to_ptx(program, start), TickMode::lazy, seed);
    return out.complaints.empty() && !difference(out.contents, wanted).empty();
  };
  for (Grid& grid : program.grids) shrink(grid.statements, fails);
  return program;
}

/// Adds to `in_flight` the requests that were listed.
void try_one(std::uint64_t seed, std::size_t& in_flight) {
  SCOPED_TRACE("WARPLINE_RANDOM_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const Program program = random_program(random);
  const Contents start = initial_contents(program, random);
  const GpuConfig config = random_machine(random);
  ASSERT_TRUE(config.problems().empty())
      << config.problems().front().path << " " << config.problems().front().message;
  const std::string ptx = to_ptx(program, start);
  Contents wanted = start;
  interpret(program, wanted);

  const Outcome lazy = play(program, start, config, ptx, TickMode::lazy, seed);
  in_flight += lazy.in_flight;
  ASSERT_TRUE(lazy.complaints.empty()) << testing::PrintToString(lazy.complaints);
  const std::string wrong = difference(lazy.contents, wanted);
  ASSERT_TRUE(wrong.empty()) << wrong << "\n" << to_ptx(shortest(program, start, config, seed), start);
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    const Outcome other = play(program, start, config, ptx, mode, seed);
    ASSERT_EQ(difference(other.contents, lazy.contents), "");
    ASSERT_EQ(lazy.cycles, other.cycles);
    ASSERT_EQ(lazy.counters, other.counters);
  }
  for (const Timing timing : {Timing::loose, Timing::alternating, Timing::functional, Timing::all_in_turn}) {
    const Outcome other = play(program, start, config, ptx, TickMode::lazy, seed, timing);
    ASSERT_TRUE(other.complaints.empty()) << testing::PrintToString(other.complaints);
    ASSERT_EQ(difference(other.contents, wanted), "");
  }
}

TEST(RandomPrograms, LeaveTheMemoryOfAMachineWithoutCaches) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_RANDOM_PROGRAMS", 4);
  std::size_t in_flight = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed, in_flight);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(in_flight, 10 * count) << "requests were in flight at the pauses";
}

}  // namespace random_programs_test
}  // namespace warpline::test
