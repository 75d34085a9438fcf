// Random race-free programs on random machines, against an interpreter that knows no caches: the same memory
// at the end, counters that reconcile, and the same time whatever the ticks; loosely timed, the same memory.
//
// WARPLINE_RANDOM_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include "machine.h"
#include "program.h"

namespace warpline::test {
namespace {

/// The memories after the last grid, and the time it took.
struct Outcome {
  Contents contents;
  std::vector<Cycle> cycles;
  std::map<std::string, std::uint64_t> counters;
  std::vector<std::string> complaints;
  std::size_t in_flight = 0;  ///< requests listed at pauses
};

enum class Timing { timed, loose, alternating };

Outcome play(const Program& program, const Contents& start, const GpuConfig& config, const std::string& ptx,
             TickMode mode, std::uint64_t seed, Timing timing = Timing::timed) {
  Bench bench(config, ptx, mode, seed);
  if (timing == Timing::loose) bench.platform().set_loose(true);
  const unsigned owners = program.threads_in_all();
  const std::size_t grids = program.grids.size();
  std::vector<std::uint64_t> at;
  for (unsigned a = 0; a < kGlobalAreas; ++a) {
    std::vector<std::uint8_t> bytes(start.slices[a].size());
    for (unsigned i = 0; i < bytes.size(); ++i)
      bytes[place(static_cast<Area>(a), i / kSlice, i % kSlice, owners)] = start.slices[a][i];
    at.push_back(bench.put(bytes, a < 2 ? Aperture::vidmem : Aperture::sysmem));
  }
  at.push_back(bench.put(start.counters[0]));
  at.push_back(bench.put(start.counters[1], Aperture::sysmem));
  at.push_back(bench.put(start.table));
  at.push_back(bench.put(std::vector<std::uint64_t>(grids * owners * kRegisters)));
  at.push_back(bench.put(std::vector<std::uint64_t>(grids * program.grids[0].ctas * kCounters)));
  at.push_back(0);
  const std::uint64_t constants = ConstantBanks::address(ConstantBanks::kModuleBank, 0);
  bench.module().place("ctable", constants);
  bench.platform().write_constant(constants, start.constants.data(), start.constants.size());

  Outcome out;
  if (mode == TickMode::lazy) bench.watch_in_flight(500 + seed % 97, out.complaints);
  for (std::size_t g = 0; g < grids; ++g) {
    const Grid& grid = program.grids[g];
    if (timing == Timing::alternating) bench.platform().set_loose(g % 2 == 0);
    const std::vector<std::uint8_t> blob(start.constants.begin(), start.constants.begin() + kSlice);
    const LaunchResult r = bench.launch("g" + std::to_string(g), grid.ctas, grid.threads, at, true, blob);
    out.cycles.push_back(r.cycles);
    if (r.outcome != RunOutcome::quiescent) {
      out.complaints.push_back("grid " + std::to_string(g) + " did not end");
      for (const Wait& w : r.standstill.waits) out.complaints.push_back(w.who + " waits for " + w.what);
      return out;
    }
    for (const std::string& s : bench.platform().unreconciled()) out.complaints.push_back(s);
  }
  for (const FaultRecord& f : bench.platform().faults()) out.complaints.push_back(f.kind + " at " + f.where);
  for (unsigned a = 0; a < kGlobalAreas; ++a) {
    const auto bytes = bench.get<std::uint8_t>(at[a], start.slices[a].size());
    out.contents.slices[a].resize(bytes.size());
    for (unsigned i = 0; i < bytes.size(); ++i)
      out.contents.slices[a][i] = bytes[place(static_cast<Area>(a), i / kSlice, i % kSlice, owners)];
  }
  for (unsigned i = 0; i < 2; ++i) out.contents.counters[i] = bench.get<std::uint64_t>(at[4 + i], kCounters);
  out.contents.registers = bench.get<std::uint64_t>(at[7], grids * owners * kRegisters);
  out.contents.shared_counters = bench.get<std::uint64_t>(at[8], grids * program.grids[0].ctas * kCounters);
  out.in_flight = bench.seen_in_flight;
  Observation seen;
  bench.platform().visit(seen);
  out.counters = seen.values;
  return out;
}

/// The first difference, or nothing.
template <class T>
std::string difference(const char* what, const std::vector<T>& got, const std::vector<T>& wanted) {
  if (got.size() != wanted.size()) return std::string(what) + ": another size";
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != wanted[i])
      return std::string(what) + "[" + std::to_string(i) + "]: got " + std::to_string(got[i]) + ", wanted " +
             std::to_string(wanted[i]);
  return {};
}

std::string difference(const Contents& got, const Contents& wanted) {
  std::string out = difference("registers", got.registers, wanted.registers);
  const char* const names[] = {"vidmem_packed", "vidmem_woven", "sysmem_packed", "sysmem_woven"};
  for (unsigned a = 0; a < kGlobalAreas; ++a)
    if (out.empty()) out = difference(names[a], got.slices[a], wanted.slices[a]);
  if (out.empty()) out = difference("vidmem counters", got.counters[0], wanted.counters[0]);
  if (out.empty()) out = difference("sysmem counters", got.counters[1], wanted.counters[1]);
  if (out.empty()) out = difference("shared counters", got.shared_counters, wanted.shared_counters);
  return out;
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
  for (const Timing timing : {Timing::loose, Timing::alternating}) {
    const Outcome other = play(program, start, config, ptx, TickMode::lazy, seed, timing);
    ASSERT_TRUE(other.complaints.empty()) << testing::PrintToString(other.complaints);
    ASSERT_EQ(difference(other.contents, wanted), "");
  }
}

TEST(RandomPrograms, LeaveTheMemoryOfAMachineWithoutCaches) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_RANDOM_PROGRAMS", 40);
  std::size_t in_flight = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed, in_flight);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(in_flight, 10 * count) << "requests were in flight at the pauses";
}

}  // namespace
}  // namespace warpline::test
