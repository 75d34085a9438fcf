// What cache policies do in a GPU, seen in its counters: L2 is one set of a few lines.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace policies_test {

/// One thread, which does one access after the other.
class Thread {
 public:
  /// A statement in which #n is the address of line n of a buffer; `last` etc. are policies in registers.
  Thread& does(std::string statement) {
    for (std::size_t at = 0; (at = statement.find('#')) != std::string::npos;) {
      std::size_t digits = 0;
      const unsigned long line = std::stoul(statement.substr(at + 1), &digits);
      statement.replace(at, digits + 1, "[%rd1+" + std::to_string(line * kLineBytes) + "]");
    }
    body_ += statement + "\nfence.acq_rel.gpu;\n";
    return *this;
  }
  Thread& loads(unsigned line) { return does("ld.global.cg.u32 %r1, #" + std::to_string(line) + ";"); }
  /// Loads with a policy, a register named below or a literal.
  Thread& loads(unsigned line, const std::string& policy) {
    return does("ld.global.cg.L2::cache_hint.u32 %r1, #" + std::to_string(line) + ", " + policy + ";");
  }
  [[nodiscard]] AllCounters run(unsigned ways, unsigned evict_last_percent,
                                const std::vector<std::string>& sets = {}) const {
    std::ostringstream module;
    module << ".version 8.8\n.target sm_100\n.address_size 64\n"
              ".visible .global .align 4096 .b8 lines[32768];\n"
              ".visible .entry k()\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>, last, normal, "
              "first, unchanged, range;\nmov.u64 %rd1, lines;\n"
              "createpolicy.fractional.L2::evict_last.b64 last, 1.0;\n"
              "createpolicy.fractional.L2::evict_normal.b64 normal, 1.0;\n"
              "createpolicy.fractional.L2::evict_first.b64 first, 1.0;\n"
              "createpolicy.fractional.L2::evict_unchanged.b64 unchanged, 1.0;\n"
              "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 range, "
              "[%rd1], 4096, 8192;\n"
           << body_ << "ret;\n}\n";
    std::vector<std::string> overrides = {{"l2.slices=1"},
                                          {"l2.sets=1"},
                                          {"sm.fetch_instructions=false"},  // code would take its lines
                                          {"l2.ways=" + std::to_string(ways)},
                                          {"l2.evict_last_percent=" + std::to_string(evict_last_percent)}};
    for (const std::string& s : sets) overrides.push_back({s});
    PtxRun run(module.str(), "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n", overrides);
    EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
    EXPECT_TRUE(run.gpu().unreconciled().empty());
    return AllCounters(run.gpu());
  }
  [[nodiscard]] std::uint64_t hits(unsigned ways, unsigned evict_last_percent = 50) const {
    return run(ways, evict_last_percent).total("l2.sector_hits");
  }

 private:
  std::string body_;
};

TEST(Policies, EvictLastLinesGoAfterNormalOnes) {
  EXPECT_EQ(Thread().loads(0).loads(1).loads(2).loads(0).hits(2), 0U);
  EXPECT_EQ(Thread().loads(0, "last").loads(1).loads(2).loads(0).hits(2), 1U);
  EXPECT_EQ(Thread().loads(0, "0x14F0000000000000").loads(1).loads(2).loads(0).hits(2), 1U) << "a literal";
}

TEST(Policies, EvictFirstLinesGoBeforeNormalOnes) {
  EXPECT_EQ(Thread().loads(0).loads(1).loads(2).loads(0).hits(2), 0U);
  EXPECT_EQ(Thread().loads(0).loads(1, "first").loads(2).loads(0).hits(2), 1U);
}

TEST(Policies, ALaterAccessGivesItsClassToAPresentLine) {
  EXPECT_EQ(Thread().loads(0).loads(0, "last").loads(1).loads(2).loads(0).hits(2), 2U);
  EXPECT_EQ(Thread().loads(0, "last").loads(0, "normal").loads(1).loads(2).loads(0).hits(2), 1U) << "demoted";
  EXPECT_EQ(Thread().loads(0, "last").loads(0, "first").loads(1).loads(2).loads(0).hits(2), 1U);
  EXPECT_EQ(Thread().loads(0, "last").loads(0).loads(1).loads(2).loads(0).hits(2), 2U)
      << "no wish, no change";
}

TEST(Policies, EvictUnchangedLeavesClassAndAge) {
  EXPECT_EQ(Thread().loads(0, "last").loads(0, "unchanged").loads(1).loads(2).loads(0).hits(2), 2U);
  // A use makes line 0 younger than line 1; one that leaves its age does not.
  EXPECT_EQ(Thread().loads(0).loads(1).loads(0).loads(2).loads(0).hits(2), 2U);
  EXPECT_EQ(Thread().loads(0).loads(1).loads(0, "unchanged").loads(2).loads(0).hits(2), 1U);
  // A miss installs as normal: neither before nor after others.
  EXPECT_EQ(Thread().loads(0).loads(1, "unchanged").loads(2).loads(1).hits(2), 1U);
  EXPECT_EQ(Thread().loads(0, "unchanged").loads(1).loads(2).loads(0).hits(2), 0U);
}

TEST(Policies, EvictLastHoldsItsSetAsideAndNoMore) {
  const Thread three = Thread().loads(0, "last").loads(1, "last").loads(2, "last").loads(3).loads(4).loads(0);
  EXPECT_EQ(three.hits(4, 75), 1U) << "three of four lines";
  EXPECT_EQ(three.hits(4, 50), 0U) << "two of four lines: the oldest became normal";
  EXPECT_EQ(Thread().loads(0, "last").loads(1).loads(2).loads(0).hits(2, 0), 0U) << "no set-aside at all";
  // Where only evict_last lines are left, they go, oldest first.
  EXPECT_EQ(Thread().loads(0, "last").loads(1, "last").loads(2).loads(1).loads(0).hits(2, 100), 1U);
}

TEST(Policies, ARangeTellsItsPrimaryLinesFromOthers) {
  // Lines 0 to 31 lie in the first block of 4 KiB, lines 32 to 63 in the second.
  EXPECT_EQ(Thread().loads(0, "range").loads(1).loads(2).loads(0).hits(2), 1U) << "primary: evict_last";
  EXPECT_EQ(Thread().loads(0).loads(32, "range").loads(1).loads(0).hits(2), 1U) << "secondary: evict_first";
}

TEST(Policies, AFractionTellsLinesByTheirAddress) {
  // 16 adjacent lines, a quarter of them evict_last, the others evict_first; then 12 normal ones.
  Thread thread;
  thread.does("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd2, 0.25;");
  for (unsigned line = 0; line < 16; ++line) thread.loads(line, "%rd2");
  for (unsigned line = 16; line < 28; ++line) thread.loads(line);
  for (unsigned line = 0; line < 16; ++line) thread.loads(line);
  EXPECT_EQ(thread.hits(16), 4U);
}

TEST(Policies, GoWithEveryKindOfAccess) {
  for (const char* access :
       {"st.global.L2::cache_hint.u32 #0, 5, last;", "red.global.add.L2::cache_hint.u32 #0, 5, last;",
        "atom.global.add.L2::cache_hint.u32 %r1, #0, 5, last;",
        "atom.global.exch.L2::cache_hint.b32 %r1, #0, 5, last;", "ld.L2::cache_hint.u32 %r1, #0, last;",
        "ld.relaxed.gpu.global.L2::cache_hint.u32 %r1, #0, last;",
        "ld.global.nc.L2::cache_hint.u32 %r1, #0, last;",
        "ld.global.L1::no_allocate.L2::cache_hint.L2::64B.v4.u32 {%r1,%r2,%r3,%r4}, #0, last;"}) {
    const auto hits = [](const std::string& text) {
      Thread t;
      t.does("ld.global.cg.u32 %r1, #0;").does(text).loads(1).loads(2);
      const std::uint64_t before = t.hits(2);
      return t.loads(0).hits(2) - before;
    };
    EXPECT_EQ(hits(access), 1U) << access;
    EXPECT_EQ(hits(std::string(access).replace(std::string(access).find("last;"), 5, "normal;")), 0U)
        << access;
  }
}

TEST(Policies, Bit61KeepsALineOutOfL1AndBit62FetchesItsBlock) {
  const auto twice = [](const std::string& policy) {
    const std::string load = "ld.global.L2::cache_hint.u32 %r1, [%rd1], " + policy + ";\n";
    return Thread().does(load + "add.u32 %r2, %r1, 1;\n" + load).run(8, 50);
  };
  EXPECT_EQ(twice("0x10F0000000000000").total("l1_lg.sector_hits"), 1U);
  EXPECT_EQ(twice("0x30F0000000000000").total("l1_lg.sector_hits"), 0U);
  EXPECT_EQ(twice("0x10F0000000000000").total("l2.prefetched_sectors"), 0U);
  EXPECT_EQ(twice("0x50F0000000000000").total("l2.prefetched_sectors"), 7U);
}

TEST(Policies, AMalformedOneIsNormalAndCounted) {
  const Thread broken = Thread().loads(0, "last").loads(0, "0x14F0000000000001").loads(1).loads(2).loads(0);
  EXPECT_EQ(broken.hits(2), 1U) << "demoted, as by evict_normal";
  EXPECT_EQ(broken.run(2, 50).total("lsu.malformed_policies"), 1U);
  EXPECT_EQ(Thread().loads(0, "0").run(2, 50).total("lsu.malformed_policies"), 0U);
}

}  // namespace policies_test
}  // namespace warpline::test
