// Programs whose warps only repeat themselves are stuck, which is said at once, and of what; those that go on
// some day never are taken for that, however long they look as if.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/machine/netlist_backend.h"
#include "rtl_models/sm/sm_counters.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace standstills_test {

using testing::AllOf;
using testing::HasSubstr;

constexpr Cycle kLimit = 60'000'000;

/// A kernel in which %p1 holds in thread 0, %r1 is the thread's number, %r2 the CTA's, %d1 a buffer of 64
/// words, zeros at first, and `m` 64 bytes of shared memory, at the beginning of it an mbarrier that expects
/// `count` arrivals.
std::string kernel(const std::string& body, unsigned count = 33, const std::string& directives = {}) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n" + directives +
         "{\n.reg .b32 %r<16>;\n.reg .b64 %d<8>;\n.reg .pred %p<4>;\n.shared .align 16 .b8 m[64];\n"
         "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n"
         "@%p1 mbarrier.init.shared.b64 [m], " +
         std::to_string(count) + ";\n@%p1 st.shared.u32 [m+16], 0;\nbar.sync 0;\n" + body + "\nret;\n}\n";
}

struct Ended {
  RunOutcome outcome = RunOutcome::quiescent;
  bool repeats = false;
  std::string waits;
  Cycle cycles = 0, now = 0;
  std::vector<FaultRecord> faults;
};

GpuConfig machine() {
  Result<GpuConfig> loaded = load_gpu("mini", std::vector<std::string>{"sm_network.present=true", "gpcs=1"});
  if (!loaded.ok()) throw std::runtime_error(loaded.faults().front().text());
  return loaded.value();
}

Ended run(const std::string& text, unsigned ctas = 1, unsigned threads = 32, TickMode mode = TickMode::lazy,
          bool loose = false, const GpuConfig& config = machine(), bool functional = false) {
  Bench bench(config, text, mode, 1, kLimit);
  bench.platform().set_functional(functional);
  if (loose) bench.platform().set_loose(true);
  const std::uint64_t out = bench.put(std::vector<std::uint32_t>(64));
  const LaunchResult r = bench.launch("k", ctas, threads, {out});
  Ended e{r.outcome, r.standstill.repeats, {}, r.cycles, bench.platform().now(), bench.platform().faults()};
  for (const Wait& w : r.standstill.waits) e.waits += w.who + " waits for " + w.what + "\n";
  return e;
}

const std::string kTry = "L: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra L;\n";

struct Stuck {
  const char* name;
  std::string body, why;
  unsigned ctas = 1, threads = 32;
  std::string directives = {};
};

std::vector<Stuck> stuck_programs() {
  const std::string phase = "the mbarrier at 0x0 of shared memory: its phase lacks 1 of 33 arrivals";
  const std::string arrive = "mbarrier.arrive.shared.b64 %d2, [m];\n";
  const std::string phase_of_state =
      arrive + "L: mbarrier.test_wait.shared.b64 %p2, [m], %d2;\nnanosleep.u32 100;\n@!%p2 bra L;";
  return {
      {"try_wait", arrive + kTry, phase},
      {"a long time limit",
       arrive +
           "mov.u32 %r3, 200000;\nL: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0, %r3;\n@!%p2 bra L;",
       phase},
      {"test_wait", phase_of_state, phase},
      {"lanes apart",
       arrive + "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra M;\n" + kTry +
           "M: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra M;",
       phase},
      {"a warp that waits at a barrier",
       "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra B;\n" + arrive + kTry + "ret;\nB: bar.sync 1, 96;",
       "barrier 1, which 64 of 96 threads have not reached", 1, 64},
      {"a fault",
       "setp.eq.u32 %p3, %r1, 40;\nmov.u64 %d3, 3;\n@%p3 st.global.u32 [%d3], 1;\n" + arrive + kTry,
       "its phase lacks 1 of 33 arrivals", 1, 64},
      {"a word of global memory",
       "L: ld.volatile.global.u32 %r3, [%d1];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra L;",
       "another value of the 4 bytes at 0x"},
      {"an acquire", "L: ld.acquire.gpu.global.u32 %r3, [%d1];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra L;",
       "another value of the 4 bytes at 0x"},
      {"a word of shared memory",
       "L: ld.volatile.shared.u32 %r3, [m+16];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra L;",
       "another value of the 4 bytes at 0x10"},
      {"a lock that nobody gives back",
       "st.global.u32 [%d1], 1;\nmembar.gl;\nL: atom.global.cas.b32 %r3, [%d1], 0, 1;\nsetp.ne.u32 %p2, %r3, "
       "0;\n@%p2 bra L;",
       "another value of the 4 bytes at 0x"},
      {"nothing at all", "L: add.u32 %r3, %r1, 1;\nbra L;", "nothing: it repeats what it does for ever"},
      {"CTAs that have no room",  // those that wait for it can never begin
       "L: ld.volatile.global.u32 %r3, [%d1];\nsetp.lt.u32 %p2, %r3, 1000;\n@%p2 bra L;", "4 bytes at 0x",
       900, 64},
      {"a cluster",
       "mbarrier.arrive.shared.b64 %d2, [m];\nsetp.ne.u32 %p3, %r2, 0;\n@%p3 bra C;\n" + kTry +
           "C: barrier.cluster.arrive;\nbarrier.cluster.wait;",
       "the barrier of its cluster, at which not all threads of CTA 0 of the cluster have arrived", 2, 32,
       ".explicitcluster .reqnctapercluster 2, 1, 1\n"},
  };
}

TEST(Standstills, OfWarpsThatRepeatThemselvesAreFoundAndExplained) {
  for (const Stuck& s : stuck_programs()) {
    SCOPED_TRACE(s.name);
    const std::string text = kernel(s.body, 33, s.directives);
    const Ended lazy = run(text, s.ctas, s.threads);
    EXPECT_EQ(lazy.outcome, RunOutcome::deadlock);
    EXPECT_TRUE(lazy.repeats);
    EXPECT_THAT(lazy.waits, HasSubstr(s.why));
    EXPECT_LT(lazy.cycles, kLimit / 4);
    const bool loose = run(text, s.ctas, s.threads, TickMode::lazy, true).outcome == RunOutcome::deadlock;
    EXPECT_TRUE(loose);
    const Ended functional = run(text, s.ctas, s.threads, TickMode::lazy, true, machine(), true);
    EXPECT_EQ(functional.outcome, RunOutcome::deadlock);
    EXPECT_TRUE(functional.repeats);
  }
}

TEST(Standstills, AreFoundInTheSameCycleWhateverTicksThereAre) {
  for (const std::string name : {"test_wait", "an acquire", "a fault"}) {
    SCOPED_TRACE(name);
    for (const Stuck& s : stuck_programs()) {
      if (s.name != name) continue;
      const std::string text = kernel(s.body, 33, s.directives);
      const Ended lazy = run(text, s.ctas, s.threads);
      for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
        const Ended other = run(text, s.ctas, s.threads, mode);
        EXPECT_EQ(other.outcome, RunOutcome::deadlock);
        EXPECT_EQ(other.waits, lazy.waits);
        EXPECT_EQ(other.now, lazy.now);
      }
    }
  }
}

TEST(Standstills, NameTheLineThatIsRepeated) {
  const Ended e = run(kernel("mbarrier.arrive.shared.b64 %d2, [m];\n" + kTry));
  EXPECT_THAT(e.waits, AllOf(HasSubstr("sm[0] warp 0 waits for the mbarrier at 0x0"), HasSubstr("test.ptx:"),
                             HasSubstr("(CTA 0,0,0)")));
}

/// Programs that look stuck for a million cycles and more.
TEST(Standstills, AreNotSeenInProgramsThatGoOn) {
  const std::string last = "mbarrier.arrive.shared.b64 %d2, [m];\n";
  const std::string work =
      "mov.u32 %r5, 0;\nW: nanosleep.u32 900000;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 3;\n@%p3 bra "
      "W;\n";
  struct Live {
    const char* name;
    std::string body;
    unsigned ctas = 1, threads = 32;
  };
  const Live programs[] = {
      {"until a clock says so",
       "mov.u64 %d2, %clock64;\nadd.u64 %d2, %d2, 1500000;\nL: mov.u64 %d3, %clock64;\nsetp.lt.u64 %p2, %d3, "
       "%d2;\n@%p2 bra L;"},
      {"until a timer's bit changes",
       "L: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\nmov.u64 %d3, %globaltimer;\nshr.u64 %d3, %d3, "
       "20;\n"
       "cvt.u32.u64 %r3, %d3;\nmov.u64 %d3, 0;\nsetp.eq.u32 %p2, %r3, 0;\nmov.u32 %r3, 0;\n@%p2 bra L;"},
      {"so many retries",
       "mov.u32 %r3, 0;\nL: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\nadd.u32 %r3, %r3, "
       "1;\nsetp.lt.u32 %p2, %r3, 100;\n"
       "@%p2 bra L;"},
      {"retries that memory counts",
       "mov.u32 %r3, 0;\nL: atom.shared.add.u32 %r3, [m+16], 1;\nsetp.lt.u32 %p2, %r3, 400000;\nmov.u32 %r3, "
       "0;\n@%p2 bra L;"},
      {"a long computation",
       "mov.u32 %r3, 1;\nL: mad.lo.u32 %r3, %r3, 1664525, 1013904223;\nsetp.ne.u32 %p2, %r3, 0;\nadd.u32 "
       "%r4, %r4, 1;\n"
       "setp.lt.u32 %p2, %r4, 100000;\n@%p2 bra L;"},
      {"one that sleeps arrives", "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra L;\n" + work + last + "ret;\n" + kTry,
       1, 64},
      {"one that sleeps writes",
       "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra L;\n" + work +
           "st.global.u32 [%d1], 1;\nret;\nL: ld.volatile.global.u32 %r3, [%d1];\nsetp.eq.u32 %p2, %r3, "
           "0;\n@%p2 bra L;",
       1, 64},
      {"one of another CTA writes",
       "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra L;\n" + work +
           "st.global.u32 [%d1], 1;\nret;\nL: ld.relaxed.gpu.global.u32 %r3, [%d1];\nsetp.eq.u32 %p2, %r3, "
           "0;\n@%p2 bra L;",
       3},
      {"a lock that is given back",
       "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra L;\n" + work +
           "atom.global.exch.b32 %r3, [%d1], 7;\nret;\nL: atom.global.cas.b32 %r3, [%d1], 7, 9;\nsetp.ne.u32 "
           "%p2, %r3, 7;\n@%p2 bra L;",
       2, 1},
      {"one that waits for longer than others arrives",
       "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra L;\nmov.u32 %r3, 2500000;\nmbarrier.try_wait.parity.shared.b64 "
       "%p3, [m], 0, %r3;\n" +
           last + "ret;\n" + kTry,
       1, 64},
  };
  for (const Live& p : programs) {
    SCOPED_TRACE(p.name);
    const Ended e = run(kernel(p.body, 32), p.ctas, p.threads);
    EXPECT_EQ(e.outcome, RunOutcome::quiescent) << e.waits;
    EXPECT_GT(e.cycles, 500'000U);
    EXPECT_TRUE(e.faults.empty());
    const Ended functional =
        run(kernel(p.body, 32), p.ctas, p.threads, TickMode::lazy, true, machine(), true);
    EXPECT_EQ(functional.outcome, RunOutcome::quiescent) << functional.waits;
    EXPECT_TRUE(functional.faults.empty());
  }
}

/// With one entry in the load/store unit, the warps that wait take it again and again; the one that they wait
/// for must get its turn all the same.
TEST(Standstills, AreNoReasonForAWarpNeverToIssue) {
  GpuConfig config = machine();
  config.sm.lsu_entries = config.sm.lsu_queue = 1;
  config.sm.partitions = 4;
  const std::string body =
      "setp.ge.u32 %p2, %r1, 96;\n@%p2 bra A;\nL: mbarrier.test_wait.parity.shared.b64 %p3, [m], 0;\n@!%p3 "
      "bra L;\nret;\n"
      "A: nanosleep.u32 3000;\nmbarrier.arrive.shared.b64 %d2, [m];\n";
  const Ended e = run(kernel(body, 32), 1, 128, TickMode::lazy, false, config);
  EXPECT_EQ(e.outcome, RunOutcome::quiescent) << e.waits;
  for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled})
    EXPECT_EQ(run(kernel(body, 32), 1, 128, mode, false, config).cycles, e.cycles);
}

}  // namespace standstills_test
}  // namespace warpline::test
