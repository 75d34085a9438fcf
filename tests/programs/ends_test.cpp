// Random programs that end badly: faults, traps, barriers that nobody completes, the cycle limit. How they
// end, when and with which records does not depend on the ticks, nor on how far clusters run ahead of each
// other.
//
// WARPLINE_RANDOM_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/programs/machine.h"
#include "tests/programs/program.h"

namespace warpline::test {
namespace ends_test {

/// Everything a user can see of a run, a line each.
using Report = std::vector<std::string>;

/// Puts a few mishaps behind barriers of the program, each of one thread or of a thread's whole CTA.
std::string with_mishaps(std::string ptx, Random& random, unsigned threads) {
  static const char* const kMishaps[] = {
      "@%p ld.global.u32 %v, [%b0+1]",  // misaligned
      "@%p ld.global.u64 %t, [%w]",     // unmapped
      "@%p atom.global.add.u32 %v, [%w], 1",
      "@%p st.shared.u32 [%w], %v",
      "@%p trap",
      "@%p bar.sync 5, 1024",  // never complete
  };
  const std::string barrier = "\tbar.sync 0;\n";
  std::vector<std::size_t> places;
  for (std::size_t at = ptx.find(barrier); at != std::string::npos; at = ptx.find(barrier, at + 1))
    places.push_back(at + barrier.size());
  for (std::size_t i = places.size(); i-- > 0;) {
    if (random.below(places.size()) > 1) continue;
    const bool whole = random.below(3) == 0;
    const std::string thread = std::to_string(random.below(threads));
    ptx.insert(places[i], std::string("\tmov.u64 %w, 0x1000000000;\n\tsetp.eq.u32 %p, ") +
                              (whole ? "%r1, 0" : "%r2, " + thread) + ";\n\t" +
                              kMishaps[random.below(std::size(kMishaps))] + ";\n");
  }
  return ptx;
}

const char* name_of(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::quiescent: return "quiescent";
    case RunOutcome::deadlock: return "deadlock";
    case RunOutcome::cycle_limit: return "cycle limit";
    case RunOutcome::stopped: break;
  }
  return "stopped";
}

struct Trial {
  Program program;
  Contents start;
  GpuConfig config;
  std::string ptx;
  std::uint64_t seed = 0;
};

Report play(const Trial& trial, TickMode mode, Cycle limit, Cycle progress_every = 0) {
  Bench bench(trial.config, trial.ptx, mode, trial.seed, limit);
  const unsigned owners = trial.program.threads_in_all();
  const std::size_t grids = trial.program.grids.size();
  std::vector<std::uint64_t> at;
  for (unsigned a = 0; a < kGlobalAreas; ++a)
    at.push_back(bench.put(trial.start.slices[a], a < 2 ? Aperture::vidmem : Aperture::sysmem));
  at.push_back(bench.put(trial.start.counters[0]));
  at.push_back(bench.put(trial.start.counters[1], Aperture::sysmem));
  at.push_back(bench.put(trial.start.table));
  at.push_back(bench.put(std::vector<std::uint64_t>(grids * owners * kRegisters)));
  at.push_back(bench.put(std::vector<std::uint64_t>(grids * trial.program.grids[0].ctas * kCounters)));
  at.push_back(0);
  bench.module().place("ctable", ConstantBanks::address(ConstantBanks::kModuleBank, 0));
  if (progress_every != 0) bench.platform().on_progress(progress_every, [](double) { return true; });

  Report report;
  bool goes_on = true;
  for (std::size_t g = 0; g < grids && goes_on; ++g) {
    const Grid& grid = trial.program.grids[g];
    const LaunchResult r = bench.launch("g" + std::to_string(g), grid.ctas, grid.threads, at, true,
                                        std::vector<std::uint8_t>(kSlice));
    report.push_back(std::string(name_of(r.outcome)) + " after " + std::to_string(r.cycles));
    for (const Wait& w : r.standstill.waits) report.push_back(w.who + " waits for " + w.what);
    goes_on = r.outcome == RunOutcome::quiescent;
    for (const std::string& s : bench.platform().unreconciled())
      if (goes_on) report.push_back("UNRECONCILED " + s);
  }
  for (const FaultRecord& f : bench.platform().faults())
    report.push_back(f.kind + " cycle " + std::to_string(f.cycle) + " sm " + std::to_string(f.sm) + " warp " +
                     std::to_string(f.warp) + " cta " + std::to_string(f.cta.x) + " lane " +
                     std::to_string(f.lane) + " at " + f.where + " address " +
                     std::to_string(f.address.value_or(0)));
  Observation seen;
  bench.platform().visit(seen);
  for (const auto& [name, value] : seen.values) report.push_back(name + " " + std::to_string(value));
  for (const std::uint64_t value : bench.get<std::uint64_t>(at[7], grids * owners * kRegisters))
    report.push_back("register " + std::to_string(value));
  return report;
}

void expect_same(const Report& a, const Report& b, const char* what) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    ASSERT_EQ(a[i], b[i]) << what << ", line " << i << " after " << a[0];
  ASSERT_EQ(a.size(), b.size()) << what;
}

void try_one(std::uint64_t seed, std::map<std::string, unsigned>& ends) {
  SCOPED_TRACE("WARPLINE_RANDOM_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  Trial trial;
  trial.seed = seed;
  trial.program = random_program(random);
  trial.start = initial_contents(trial.program, random);
  trial.config = random_machine(random);
  trial.ptx = with_mishaps(to_ptx(trial.program, trial.start), random, trial.program.threads_in_all());
  Cycle limit = 50'000'000;
  for (unsigned round = 0; round < 2; ++round) {
    const Report lazy = play(trial, TickMode::lazy, limit);
    ++ends[lazy[0].substr(0, lazy[0].find(' '))];
    for (const std::string& s : lazy) ASSERT_EQ(s.find("UNRECONCILED"), std::string::npos) << s;
    expect_same(lazy, play(trial, TickMode::every_cycle, limit), "every cycle");
    expect_same(lazy, play(trial, TickMode::spurious_and_shuffled, limit), "shuffled");
    expect_same(lazy, play(trial, TickMode::lazy, limit, 1 + random.below(300)), "with progress");
    if (testing::Test::HasFatalFailure()) return;
    limit = 1 + random.below(std::strtoull(lazy[0].substr(lazy[0].rfind(' ')).c_str(), nullptr, 10));
  }
}

TEST(BadEnds, AreTheSameWhateverTheTicks) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_RANDOM_PROGRAMS", 4);
  std::map<std::string, unsigned> ends;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed, ends);
    if (HasFatalFailure()) return;
  }
  for (const auto& [end, times] : ends) RecordProperty(end, static_cast<int>(times));
}

TEST(BadEnds, FaultsOfOneCycleAreInTheOrderInWhichTheSmMetThem) {
  GpuConfig config = load_gpu("mini", {}).value();
  config.sms = 1;
  config.sm.partitions = 4;
  Bench bench(config,
              ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n\ttrap;\n\tret;\n}\n");
  ASSERT_EQ(bench.launch("k", 16, 128, {}).outcome, RunOutcome::quiescent);
  const std::vector<FaultRecord> faults = bench.platform().faults();
  ASSERT_EQ(faults.size(), 64U);
  // Partition after partition issues in a cycle, and warp n is of partition n mod 4.
  for (std::size_t i = 1; i < faults.size(); ++i)
    EXPECT_TRUE(faults[i - 1].cycle < faults[i].cycle || faults[i - 1].warp % 4 < faults[i].warp % 4) << i;
}

}  // namespace ends_test
}  // namespace warpline::test
