// Hints change nothing: random race-free programs on random machines, with every kind of hint and without
// any, timed and loosely timed, leave the same memory and the same registers.
//
// WARPLINE_HINTED_PROGRAMS sets how many are drawn, WARPLINE_RANDOM_SEED the first one's seed.
#include "tests/programs/hints.h"

#include <gtest/gtest.h>

#include <set>

#include "platform/machine/direct_backend.h"
#include "tests/programs/random_run.h"

namespace warpline::test {
namespace hints_test {

void try_one(std::uint64_t seed) {
  SCOPED_TRACE("WARPLINE_HINTED_PROGRAMS=1 WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const Program hinted = random_program(random);
  const Contents start = initial_contents(hinted, random);
  const GpuConfig config = random_machine(random);
  const Program bare = without_hints(hinted);
  Contents wanted = start;
  interpret(bare, wanted);
  for (const Program* program : {&bare, &hinted})
    for (const Timing timing : {Timing::timed, Timing::loose}) {
      const std::string ptx = to_ptx(*program, start);
      const Outcome out = play(*program, start, config, ptx,
                               std::make_shared<DirectBackend>(TickMode::lazy, seed), 0, timing);
      ASSERT_TRUE(out.complaints.empty()) << testing::PrintToString(out.complaints);
      ASSERT_EQ(difference(out.contents, wanted), "") << ptx;
    }
}

TEST(Hints, ChangeNoMemoryAndNoRegister) {
  const std::uint64_t first = from_environment("WARPLINE_RANDOM_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_HINTED_PROGRAMS", 20);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try_one(seed);
    if (HasFatalFailure()) return;
  }
}

/// What is said of an access beside its address: "ld.cg.L2::cache_hint.L2::64B".
void collect(const std::vector<Statement>& list, std::set<std::string>& seen) {
  for (const Statement& s : list) {
    const bool load = s.kind == Statement::Kind::load;
    if ((load || s.kind == Statement::Kind::store) && s.area < Area::shared)
      seen.insert((load ? "ld" : "st") + std::string(s.bytes * s.elements == 32 ? ".wide" : "") + s.text +
                  s.hints);
    if (s.kind == Statement::Kind::table) seen.insert(s.text + s.hints);
    if (s.kind == Statement::Kind::hint) seen.insert(s.text);
    collect(s.body, seen);
    collect(s.otherwise, seen);
  }
}

TEST(Hints, OfRandomProgramsAreAllThatThereAre) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 10000; ++seed) {
    Random random(splitmix64(seed));
    for (const Grid& grid : random_program(random).grids) collect(grid.statements, seen);
  }
  const char* const kL1[] = {"",
                             ".L1::evict_normal",
                             ".L1::evict_unchanged",
                             ".L1::evict_first",
                             ".L1::evict_last",
                             ".L1::no_allocate"};
  const char* const kL2[] = {"", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"};
  const auto expect = [&seen](const std::string& access) {
    EXPECT_TRUE(seen.count(access) != 0) << access << " never occurs";
  };
  for (const char* policy : {"", ".L2::cache_hint"}) {
    for (const char* l1 : kL1) {
      for (const char* l2 : kL2) {
        expect(std::string("st.wide") + l1 + l2 + policy);
        for (const char* size : {"", ".L2::64B", ".L2::128B", ".L2::256B"})
          expect(std::string("ld.wide") + l1 + l2 + policy + size);
      }
      expect(std::string("st") + l1 + policy);
      for (const char* size : {"", ".L2::64B", ".L2::128B", ".L2::256B"}) {
        expect(std::string("ld") + l1 + policy + size);
        expect(std::string("ld.global.nc") + l1 + policy + size);
      }
    }
    for (const char* cop : {".wb", ".cg", ".cs", ".wt"}) expect(std::string("st") + cop + policy);
    for (const char* size : {"", ".L2::64B", ".L2::128B", ".L2::256B"})
      for (const char* cop : {".ca", ".cg", ".cs", ".lu", ".cv"})
        expect(std::string("ld") + cop + policy + size);
  }
  for (const char* hint : {"prefetch.local.L1", "prefetch.global.L2::evict_last", "prefetchu.L1",
                           "applypriority.global.L2::evict_normal"})
    expect(hint);
}

}  // namespace hints_test
}  // namespace warpline::test
