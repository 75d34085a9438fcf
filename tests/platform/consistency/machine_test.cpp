// The machine: a run depends on its test and seed only, each kind of memory holds what is written, and what
// cannot end is counted and cleaned up.
#include "platform/consistency/machine.h"

#include <algorithm>
#include <map>

#include "platform/consistency/program.h"
#include "tests/platform/consistency/bench.h"

namespace warpline::test {
namespace machine_test {

using litmus::Machine;

constexpr const char* kStoreBuffer = R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | st.weak y, 1 ;
 ld.weak r0, y | ld.weak r1, x ;
exists (P0:r0 == 0 /\ P1:r1 == 0))";

constexpr const char* kBusy =
    R"({ x=3; y @ generic aliases x; z @ sysmem = 5; w=0; t @ texture aliases x; s @ surface aliases w; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;
 atom.add.gpu r0, x, 1 | ld.weak r0, y | tld.weak r0, t ;
 st.weak z, 7 | bar.cta.sync 1 | sust.weak s, 4 ;
 bar.cta.sync 1 | ld.weak r1, z | fence.sc.sys ;
 ld.relaxed.sys r1, z | st.weak x, 9 | ld.weak r1, x ;
exists (P0:r0 == 0))";

constexpr const char* kStuck = R"({ x=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1 | bar.cta.sync 1, 1, 3 ;
 bar.cta.sync 1, 1, 3 | ld.weak r0, x ;
exists (P1:r0 == 0))";

constexpr const char* kEndless = R"({ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 LC00: | atom.add.gpu r0, y, 1 ;
 ld.relaxed.gpu r0, x | ld.weak r1, x ;
 beq r0, 0, LC00 | ;
exists (P1:r1 == 1))";

/// Everything that a run shows.
struct Shown {
  bool ended = false;
  Cycle cycles = 0;
  std::uint64_t ticks = 0;
  std::vector<std::int64_t> values;
  friend bool operator==(const Shown& a, const Shown& b) {
    return a.ended == b.ended && a.cycles == b.cycles && a.ticks == b.ticks && a.values == b.values;
  }
};

Shown run_once(Machine& machine, const litmus::Test& test, std::uint64_t seed) {
  Shown s;
  const std::uint64_t before = machine.ticks();
  s.ended = machine.run(seed);
  s.cycles = machine.cycles();
  if (!s.ended) return s;  // how it was ended is no part of it
  s.ticks = machine.ticks() - before;
  for (unsigned t = 0; t < test.threads.size(); ++t)
    for (unsigned r = 0; r < test.threads[t].registers.size(); ++r)
      s.values.push_back(machine.value({litmus::Term::Kind::reg, 0, t, r}));
  for (unsigned l = 0; l < test.locations.size(); ++l)
    s.values.push_back(machine.value({litmus::Term::Kind::location, 0, 0, l}));
  return s;
}

TEST(LitmusMachine, ARunDependsOnItsTestAndSeedOnly) {
  for (const char* gpu : {"mini", "v100"}) {
    const std::vector<litmus::Test> tests = {litmus_test(kStoreBuffer), litmus_test(kBusy),
                                             litmus_test(kStuck), litmus_test(kEndless)};
    Machine used(litmus_gpu(gpu));
    for (std::uint64_t seed = 0; seed < (std::string(gpu) == "mini" ? 40U : 6U); ++seed)
      for (std::size_t n = 0; n < tests.size(); ++n) {
        used.load(tests[n]);
        const Shown after_others = run_once(used, tests[n], seed);
        const Shown again = run_once(used, tests[n], seed);
        Machine fresh(litmus_gpu(gpu));
        fresh.load(tests[n]);
        const Shown alone = run_once(fresh, tests[n], seed);
        ASSERT_TRUE(after_others == alone)
            << gpu << " test " << n << " seed " << seed << ": " << after_others.cycles << " " << alone.cycles
            << ", " << after_others.ticks << " " << alone.ticks;
        ASSERT_TRUE(again == alone) << gpu << " test " << n << " seed " << seed;
      }
  }
}

TEST(LitmusMachine, SeedsDiffer) {
  const litmus::Test test = litmus_test(kStoreBuffer);
  Machine machine(litmus_gpu());
  machine.load(test);
  std::map<Cycle, int> lengths;
  for (std::uint64_t seed = 0; seed < 64; ++seed) ++lengths[run_once(machine, test, seed).cycles];
  EXPECT_GT(lengths.size(), 16U);
}

TEST(LitmusMachine, WhatOneThreadWritesItReads) {
  // One thread, one proxy, one address: every memory must hold what is written, whatever lies where.
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"{ x=5; }", "exists (P0:r0 != 5 \\/ P0:r1 != -2 \\/ x != -2)"},
      {"{ x @ sysmem = 5; }", "exists (P0:r0 != 5 \\/ P0:r1 != -2 \\/ x != -2)"},
      {"{ x @ shared = 5; }", "exists (P0:r0 != 5 \\/ P0:r1 != -2 \\/ x != -2)"}};
  for (const auto& [memory, condition] : cases)
    for (const std::string type : {"", ".s32", ".b64"}) {
      const std::string body = " P0@cta 0,gpu 0 ;\n ld.weak" + type + " r0, x ;\n st.weak" + type +
                               " x, -2 ;\n ld.weak" + type + " r1, x ;\n";
      EXPECT_EQ(times_seen(std::string(memory) + "\n" + body + condition, 300), 0U) << memory << type;
    }
}

TEST(LitmusMachine, ReachesMemoryByEveryProxy) {
  const std::string thread = "\n P0@cta 0,gpu 0 ;\n";
  for (const std::string bytes : {"", ".b64", ".u16"}) {
    EXPECT_EQ(times_seen("{ x=21; t @ texture aliases x; }" + thread + "tld.weak" + bytes +
                             " r0, t ;\nexists (P0:r0 != 21)",
                         100),
              0U);
    EXPECT_EQ(times_seen("{ x=21; c @ constant aliases x; }" + thread + "cold.weak" + bytes +
                             " r0, c ;\nexists (P0:r0 != 21)",
                         100),
              0U);
    EXPECT_EQ(times_seen("{ x=21; s @ surface aliases x; }" + thread + "suld.weak" + bytes +
                             " r0, s ;\n sust.weak" + bytes + " s, 8 ;\nexists (P0:r0 != 21 \\/ x != 8)",
                         100),
              0U);
  }
  EXPECT_EQ(times_seen("{ x=21; y @ generic aliases x; }" + thread +
                           "ld.weak r0, y ;\n st.weak y, 8 ;\nexists (P0:r0 != 21 \\/ x != 8)",
                       100),
            0U);
  EXPECT_EQ(times_seen("{ x=21; }" + thread + "ld.global.nc r0, x ;\nexists (P0:r0 != 21)", 100), 0U);
  EXPECT_EQ(times_seen("{ x @ sysmem = 21; }" + thread +
                           "ld.mmio.u16 r0, x ;\n st.mmio.b32 x+4, 3 ;\n ld.mmio.b64 r1, x ;\n"
                           "exists (P0:r0 != 21 \\/ P0:r1 != 0x300000015)",
                       100),
            0U);
}

TEST(LitmusMachine, AtomicsComputeAsTheModelSays) {
  EXPECT_EQ(times_seen("{ x=5; }\n P0@cta 0,gpu 0 ;\n atom.add.gpu r0, x, 3 ;\n atom.sub.gpu r1, x, 1 ;\n"
                       " atom.cas.gpu r2, x, 7, 20 ;\n atom.cas.gpu r3, x, 7, 1 ;\n red.max.gpu x, 30 ;\n"
                       "exists (P0:r0 != 5 \\/ P0:r1 != 8 \\/ P0:r2 != 7 \\/ P0:r3 != 20 \\/ x != 30)",
                       100),
            0U);
  EXPECT_EQ(times_seen("{ x=-1; }\n P0@cta 0,gpu 0 ;\n atom.cas r0, x, 0xFFFFFFFF, 0x100000001 ;\n"
                       " atom.cas.b32 r1, x, 1, -2 ;\n atom.cas.b32 r2, x, -2, 3 ;\n"
                       "exists (P0:r0 != -1 \\/ P0:r1 != 1 \\/ P0:r2 != 0xFFFFFFFE \\/ x != 3)",
                       100),
            0U);
}

TEST(LitmusMachine, CountsARunThatCannotEndAndGoesOn) {
  const litmus::Test stuck = litmus_test(kStuck), good = litmus_test(kStoreBuffer);
  Machine machine(litmus_gpu());
  EXPECT_FALSE(litmus::barriers_can_be_met(stuck));
  const litmus::RunReport report = litmus::run(machine, stuck, {50, 1});
  EXPECT_EQ(report.stuck, 50U);
  EXPECT_TRUE(report.outcomes.empty());
  EXPECT_TRUE(std::any_of(report.standstill.waits.begin(), report.standstill.waits.end(), [](const Wait& w) {
    return w.what.find("barrier 1, which 1 of 3") != std::string::npos;
  }));
  EXPECT_EQ(litmus::run(machine, good, {50, 1}).stuck, 0U);
  const litmus::Test endless = litmus_test(kEndless);
  EXPECT_EQ(litmus::run(machine, endless, {20, 1, 5000}).stuck, 20U);
  EXPECT_EQ(litmus::run(machine, good, {50, 1}).stuck, 0U);
}

TEST(LitmusMachine, AThreadMayEndAtABarrier) {
  const litmus::Test test =
      litmus_test("{ x=0; }\n P0@cta 0,gpu 0 ;\n bar.cta.sync 1, 1, 2 ;\nexists (x == 0)");
  Machine machine(litmus_gpu());
  EXPECT_EQ(litmus::run(machine, test, {20, 1}).stuck, 20U);
}

TEST(LitmusMachine, ABarrierWithANumberIsAQuorum) {
  // Three threads meet at a barrier for two: whoever comes last finds that enough have come.
  const litmus::Test test = litmus_test(R"({ x=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;
 bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;
 st.weak x, 1 | st.weak x, 2 | st.weak x, 3 ;
exists (x == 0))");
  Machine machine(litmus_gpu());
  EXPECT_TRUE(litmus::barriers_can_be_met(test));
  const litmus::RunReport report = litmus::run(machine, test, {500, 1});
  EXPECT_EQ(report.stuck, 0U);
  EXPECT_EQ(report.in_question, 0U);
  EXPECT_EQ(report.outcomes.size(), 3U) << "any of them may be last";
}

/// Two stores and their readers; `holds` stands before the condition.
std::string message_passing(const std::string& store, const std::string& holds) {
  return "{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.relaxed.gpu r0, f ;\n " +
         store + " f, 1 | ld.relaxed.gpu r1, x ;\n" + holds + "exists (P1:r0 == 1 /\\ P1:r1 == 0)";
}
constexpr const char* kHoldX = "hold write x of P0 until P1:1;\n";

TEST(LitmusMachine, AHeldWriteIsPassedByOthers) {
  const auto seen = [](const std::string& text) {
    Machine machine(litmus_gpu());
    const litmus::Test test = litmus_test(text);
    return litmus::run(machine, test, {1000, 7});
  };
  const litmus::RunReport open = seen(message_passing("st.relaxed.gpu", ""));
  const litmus::RunReport held = seen(message_passing("st.relaxed.gpu", kHoldX));
  EXPECT_EQ(open.held, 0U);
  EXPECT_EQ(held.stuck, 0U);
  EXPECT_GT(held.held, 500U);
  EXPECT_GT(held.in_question, 3 * open.in_question + 50);
  EXPECT_GT(held.gave_way, 0U) << "now and then the flag lies behind it in the same queue";
  EXPECT_LT(held.gave_way, held.held / 2);
}

TEST(LitmusMachine, AHeldFillArrivesWhenItsHoldEnds) {
  const litmus::Test test = litmus_test(R"({ x=0; f=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.relaxed.gpu r0, x | st.relaxed.gpu f, 1 ;
 ld.relaxed.gpu r1, f | ;
 ld.acquire.gpu r2, f | ;
hold fill x of P0 until P1:0;
exists (x == 0))");
  Machine machine(litmus_gpu());
  const litmus::RunReport report = litmus::run(machine, test, {500, 7});
  EXPECT_EQ(report.stuck, 0U);
  EXPECT_EQ(report.gave_way, 0U);
  EXPECT_GT(report.held, 50U);
}

TEST(LitmusMachine, AHoldThatNothingEndsGivesWay) {
  const litmus::Test test = litmus_test(
      "{ x=0; }\n P0@cta 0,gpu 0 ;\n atom.add.gpu r0, x, 1 ;\n"
      "hold write x of P0 until P0:0;\nexists (P0:r0 == 0)");
  Machine machine(litmus_gpu());
  const litmus::RunReport report = litmus::run(machine, test, {50, 7});
  EXPECT_EQ(report.stuck, 0U);
  EXPECT_EQ(report.held, 50U);
  EXPECT_EQ(report.gave_way, 50U);
  EXPECT_EQ(report.in_question, 50U);
}

TEST(LitmusMachine, HoldsAreForTimedRunsPortToPort) {
  const litmus::Test test = litmus_test(message_passing("st.weak", kHoldX));
  const auto refused = Machine(litmus_gpu(), nullptr, true).refusals(test);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_NE(refused[0].find("holds messages back"), std::string::npos);
}

TEST(LitmusMachine, RefusesWhatItCannotRunByName) {
  const auto why = [](const std::string& text) {
    const litmus::Test test = litmus_test(text);
    const auto refused = Machine(litmus_gpu()).refusals(test);
    return refused.empty() ? std::string("nothing") : refused.front();
  };
  EXPECT_EQ(
      why("{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 3 ;\n st.weak x, 1 | st.weak x, 2 ;\nexists (x == 1)"),
      "its threads are on 2 GPUs, of which there are 1");
  EXPECT_EQ(why("{ x @ vidmem; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;\n st.weak x, 1 | st.weak x, 2 "
                ";\nexists (x == 1)"),
            "x lies in video memory, which one GPU only can reach");
  EXPECT_EQ(why("{ x @ peer; c @ constant aliases x; }\n P0@cta 0,gpu 0 ;\n cold r0, c ;\nexists (x == 1)"),
            "c lies in a peer's memory, where no constant does");
  EXPECT_EQ(
      why("{ x @ shared; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | st.weak x, 2 ;\nexists "
          "(x == 1)"),
      "x lies in shared memory, which one CTA only can reach, unless it says whose it is: \"x @ shared of "
      "P0\"");
  const std::string clusters = " P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 ;\n ";
  EXPECT_EQ(why("{ s @ shared of P1; }\n" + clusters + "st.weak s, 1 | ld.weak r0, s ;\nexists (P1:r0 == 1)"),
            "its CTAs meet or share memory in clusters, for which the GPU has no network between SMs "
            "(sm_network.present)");
  EXPECT_EQ(
      why("{ s @ shared of P1; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak s, 1 | ;\nexists (0 == 0)"),
      "s lies in shared memory of another cluster, which no thread reaches");
  EXPECT_EQ(
      why("{ s @ shared of P1; b @ mbarrier of P1; }\n" + clusters + "st.async s, 1, b | ;\nexists (0 == 0)"),
      "\"st.async s, 1, b\": asynchronous stores are judged, and tests of them are not run yet");
  EXPECT_EQ(
      why("{ b @ mbarrier of P1; }\n" + clusters + "mbarrier.arrive _, b | ;\nexists (0 == 0)"),
      "\"mbarrier.arrive _, b\": operations on another CTA's mbarrier are judged, and tests of them are "
      "not run yet");
  EXPECT_EQ(why("{ x=0; }\n" + clusters + "barrier.cluster.wait | ;\nexists (x == 0)"),
            "P0: \"barrier.cluster.wait\" comes out of turn: a thread arrives, and then waits, each time");
  EXPECT_EQ(
      why("{ x=0; s @ shared; b @ mbarrier; }\n P0@cta 0,gpu 0 ;\n cp.async.bulk s, x, 16, b ;\nexists (s == "
          "0)"),
      "s: what an asynchronous operation leaves in shared memory is there only behind a wait: load it into a "
      "register");
}

/// Two arrive in a phase of one, which bytes that never come keep from its end.
TEST(LitmusMachine, SaysWhatNoProgramMayDo) {
  const litmus::Test test = litmus_test(
      "{ b @ mbarrier = 1; }\n P0@cta 0,gpu 0 ;\n mbarrier.arrive.expect_tx _, b, 16 ;\n mbarrier.arrive _, "
      "b "
      ";\nexists (0 == 0)");
  Machine machine(litmus_gpu());
  const litmus::RunReport report = litmus::run(machine, test, {20, 1});
  EXPECT_EQ(report.faulted, 20U);
  EXPECT_EQ(report.stuck, 0U);
  EXPECT_NE(report.fault.find("mbarrier.arrive _, b"), std::string::npos) << report.fault;
}

/// Whatever the launches of its CTAs lie in queues for, a cluster meets.
TEST(LitmusMachine, ClustersMeetWhenTheirLaunchesComeLate) {
  const litmus::Test test = litmus_test(
      "{ x=0; s @ shared of P1 = 3; }\n P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 | P2@cta "
      "2,cluster 1,gpu 0 "
      ";\n ld.weak r0, s | barrier.cluster.arrive | st.weak x, 1 ;\n barrier.cluster.arrive | "
      "barrier.cluster.wait "
      ";\n barrier.cluster.wait | ;\nforall (P0:r0 == 3)");
  GpuConfig config = litmus_gpu();
  config.sm_network.present = true;
  Machine machine(config);
  ASSERT_EQ(machine.refusals(test), std::vector<std::string>{});
  const litmus::RunReport report = litmus::run(machine, test, {500, 3});
  EXPECT_EQ(report.stuck + report.faulted, 0U);
  EXPECT_EQ(report.in_question, 0U);
}

}  // namespace machine_test
}  // namespace warpline::test
