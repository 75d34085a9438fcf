// What the checker says of recorded grids: of what the platform did, and of what it never did.
#include "platform/consistency/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/platform/consistency/recorded_run.h"

namespace warpline::litmus::test {
namespace judge_test {

using ::testing::HasSubstr;
using Verdict = Judgement::Verdict;

TEST(Judge, ThePlatformObeys) {
  ExecutionRecord r = record_of({kWriter, kReader});
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::obeys) << text_of(j);
  EXPECT_EQ(j.threads, 2U);
  EXPECT_EQ(event(r, 64, 0).read[0], 7);
  EXPECT_THAT(text_of(j), HasSubstr("obeys the PTX 9.0 model (2 threads, "));
}

TEST(Judge, AStaleReadBehindFencesViolatesCausality) {
  ExecutionRecord r = record_of({kWriter, kReader});
  set(event(r, 64, 0).read, 0);
  JudgeOptions options;
  options.draw = true;
  const Judgement j = judge(r, options);
  EXPECT_EQ(j.verdict, Verdict::violates) << text_of(j);
  EXPECT_EQ(j.axiom, "causality");
  EXPECT_THAT(j.graph, HasSubstr("forbidden: causality"));
  EXPECT_THAT(j.graph, HasSubstr("ld.global.u32 a = 0"));
}

TEST(Judge, TheSameReadWithoutFencesIsAllowed) {
  ExecutionRecord r = record_of({{0, "st.global.u32 [%rd1], 7; st.relaxed.gpu.global.u32 [%rd1+128], 1;"},
                                 {64,
                                  "W: ld.relaxed.gpu.global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0;"
                                  "@%p2 bra W; ld.global.u32 %r5, [%rd1];"}});
  set(event(r, 64, 0).read, 0);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::obeys) << text_of(j);
}

/// One arrives at an mbarrier behind a store, another waits for the phase.
ExecutionRecord record_of_arrival(const std::string& order) {
  const std::string arrives =
      "mbarrier.init.shared.b64 [%rd2], 1; st.release.cta.global.u32 [%rd1+128], 1; st.global.u32 [%rd1+4], "
      "7;"
      "mbarrier.arrive" +
      order + ".shared.b64 _, [%rd2];";
  return record_of({{0, arrives.c_str()},
                    {32,
                     "W: ld.acquire.cta.global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra W;"
                     "V: mbarrier.try_wait.parity.shared.b64 %p3, [%rd2], 0; @!%p3 bra V;"
                     "ld.global.u32 %r5, [%rd1+4];"}},
                   1);
}

TEST(Judge, ArrivalsAtMbarriersOrderWhatWaitsForThem) {
  ExecutionRecord r = record_of_arrival("");
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  JudgeOptions old;
  old.ptx75 = true;
  EXPECT_THAT(text_of(judge(r, old)), HasSubstr("the PTX 7.5 model knows no order by mbarriers ("));
  set(event(r, 32, 4).read, 0);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::violates) << text_of(j);
  EXPECT_EQ(j.axiom, "causality");
  r = record_of_arrival(".relaxed.cta");
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  set(event(r, 32, 4).read, 0);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << "the arrival does not release: " << text_of(judge(r));
}

/// One stores to the shared memory of the other CTA of its cluster, and both meet.
ExecutionRecord record_of_meeting(const std::string& order) {
  const std::string stores =
      "mapa.shared::cluster.u64 %rd3, %rd2, 1; st.shared::cluster.u32 [%rd3+8], 7;"
      "barrier.cluster.arrive" +
      order + "; barrier.cluster.wait;";
  std::string ptx =
      kernel({{0, stores.c_str()},
              {64, "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r5, [%rd2+8];"}});
  ptx.insert(ptx.find("\n{\n") + 1, ".reqnctapercluster 2, 1, 1\n");
  return records_of(ptx, launch(2), {}, 1000, {"sm_network.present=true"}).at(0);
}

TEST(Judge, ClustersMeetAndReachEachOthersSharedMemory) {
  ExecutionRecord r = record_of_meeting("");
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  EXPECT_EQ(event(r, 64, 8).read[0], 7);
  set(event(r, 64, 8).read, 0);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::violates) << text_of(j);
  EXPECT_EQ(j.axiom, "causality");
  r = record_of_meeting(".relaxed");
  set(event(r, 64, 8).read, 0);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << "the arrival does not release";
}

TEST(Judge, AValueThatNobodyWroteIsFound) {
  ExecutionRecord r = record_of({kWriter, kReader});
  set(event(r, 64, 0).read, 8);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::violates);
  EXPECT_EQ(j.axiom, "reads-from");
  EXPECT_THAT(j.reason, HasSubstr("thread 0 of CTA (1, 0, 0)"));
}

TEST(Judge, StrongAccessesAreWholeAndWeakOnesThatRaceNeedNotBe) {
  for (const auto& [how, verdict, axiom] :
       {std::tuple(".relaxed.gpu", Verdict::violates, "single-copy atomicity"),
        std::tuple("", Verdict::obeys, "")}) {
    const std::string store = "st" + std::string(how) + ".global.u32 [%rd1], 0x00020001;";
    const std::string load = "nanosleep.u32 3000; ld" + std::string(how) + ".global.u32 %r4, [%rd1];";
    ExecutionRecord r = record_of({{0, store.c_str()}, {64, load.c_str()}});
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << how;
    set(event(r, 64, 0).read, 1);  // its upper half is old
    const Judgement torn = judge(r);
    EXPECT_EQ(torn.verdict, verdict) << how << ' ' << text_of(torn);
    EXPECT_EQ(torn.axiom, axiom) << how;
  }
}

TEST(Judge, ReadsCannotHaveWhatIsWrittenLater) {
  // The load is over when the store issues: its thread has used the value.
  ExecutionRecord r = record_of({{0, "ld.global.u32 %r4, [%rd1]; add.u32 %r5, %r4, 1; bar.sync 0;"},
                                 {32, "bar.sync 0; st.global.u32 [%rd1], 9;"}},
                                1);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys);
  set(event(r, 0, 0).read, 9);
  EXPECT_EQ(judge(r).axiom, "reads-from");
}

TEST(Judge, SearchesWhereValuesRepeat) {
  // The flag is 1 for the second time when the data is there.
  ExecutionRecord r =
      record_of({{0,
                  "st.relaxed.gpu.global.u32 [%rd1+128], 1; st.relaxed.gpu.global.u32 [%rd1+128], 0;"
                  "st.global.u32 [%rd1], 1; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1+128], 1;"},
                 {64,
                  "nanosleep.u32 3000; ld.relaxed.gpu.global.u32 %r4, [%rd1+128]; fence.acq_rel.gpu;"
                  "ld.global.u32 %r5, [%rd1];"}});
  EXPECT_EQ(event(r, 64, 128).read[0], 1);
  EXPECT_EQ(event(r, 64, 0).read[0], 1);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys);
  // Had it read 0 of the data, it would have read the flag of before.
  set(event(r, 64, 0).read, 0);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::obeys) << text_of(j);
  EXPECT_GT(j.tries, 1U);
  JudgeOptions few;
  few.most_tries = 1;
  EXPECT_EQ(judge(r, few).verdict, Verdict::refused);
  EXPECT_THAT(judge(r, few).reason, HasSubstr("values do not tell"));
  JudgeOptions hasty;
  unsigned asked = 0;
  hasty.stop = [&asked] { return ++asked > 1; };
  const Judgement stopped = judge(r, hasty);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.verdict, Verdict::refused);
  EXPECT_EQ(stopped.reason, "interrupted");
}

TEST(Judge, StoreBufferingNeedsSequentialFences) {
  for (const bool sequential : {true, false}) {
    const std::string fence = sequential ? "fence.sc.gpu;" : "fence.acq_rel.gpu;";
    const std::string a =
        "st.relaxed.gpu.global.u32 [%rd1], 1;" + fence + "ld.relaxed.gpu.global.u32 %r4, [%rd1+128];";
    const std::string b =
        "st.relaxed.gpu.global.u32 [%rd1+128], 1;" + fence + "ld.relaxed.gpu.global.u32 %r4, [%rd1];";
    ExecutionRecord r = record_of({{0, a.c_str()}, {64, b.c_str()}});
    EXPECT_EQ(judge(r).verdict, Verdict::obeys);
    set(event(r, 0, 128).read, 0);
    set(event(r, 64, 0).read, 0);
    const Judgement j = judge(r);
    EXPECT_EQ(j.verdict, sequential ? Verdict::violates : Verdict::obeys) << text_of(j);
  }
}

TEST(Judge, CoherenceOrderIsThatOfTheRun) {
  ExecutionRecord r =
      record_of({{0, "st.relaxed.gpu.global.u32 [%rd1], 1; st.relaxed.gpu.global.u32 [%rd1], 2;"},
                 {64, "ld.relaxed.gpu.global.u32 %r4, [%rd1];"}});
  EXPECT_EQ(judge(r).verdict, Verdict::obeys);
  std::swap(event(r, 0, 0, 0).coherent, event(r, 0, 0, 1).coherent);
  EXPECT_EQ(judge(r).axiom, "coherence") << "memory holds 2 at the end";
  for (auto& [key, line] : r.lines) line.after[0] = 1;
  EXPECT_EQ(judge(r).verdict, Verdict::violates)
      << "a thread's stores to one address take effect in its order";
}

TEST(Judge, MemoryHoldsTheLastWriteAtTheEnd) {
  ExecutionRecord r = record_of({{0, "st.global.u32 [%rd1], 5;"}});
  EXPECT_EQ(judge(r).verdict, Verdict::obeys);
  r.lines.begin()->second.after[0] = 6;
  EXPECT_THAT(judge(r).reason, HasSubstr("a does not hold at the end"));
}

TEST(Judge, SiblingsMeetAtBarriers) {
  const ThreadCode writer = {0, "st.shared.u32 [%rd2], 3; bar.sync 0;"};
  const ThreadCode reader = {32, "bar.sync 0; ld.shared.u32 %r4, [%rd2];"};
  ExecutionRecord r = record_of({writer, reader}, 1);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  EXPECT_EQ(event(r, 32, 0).read[0], 3);
  set(event(r, 32, 0).read, 0);
  EXPECT_EQ(judge(r).axiom, "causality") << text_of(judge(r));
  // Those who met at different times did not meet.
  for (RecordedEvent& e : r.events)
    if (e.kind == RecordedEvent::Kind::barrier) e.meeting += e.thread;
  EXPECT_EQ(judge(r).verdict, Verdict::obeys);
}

TEST(Judge, WhatIsTooLargeIsRefused) {
  const ExecutionRecord r = record_of({kWriter, kReader});
  JudgeOptions small;
  small.most_events = 5;
  const Judgement j = judge(r, small);
  EXPECT_EQ(j.verdict, Verdict::refused);
  EXPECT_THAT(text_of(j), HasSubstr("at most 5 are judged"));
  const ExecutionRecord few = record_of({kWriter, kReader}, 2, {}, 3);
  EXPECT_TRUE(few.events.empty());
  EXPECT_THAT(text_of(judge(few)), HasSubstr("not judged: more than 3 accesses"));
}

TEST(Judge, WhatTheModelCannotExpressIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"cp.async.ca.shared.global [%rd2], [%rd1], 4; cp.async.wait_all;", "asynchronous copies ("},
      {"discard.global.L2 [%rd1], 128;", "\"discard\""},
      {"ld.global.u32 %r4, [%rd1+4096];", "faults"},
  };
  for (const auto& [code, why] : cases) {
    const Judgement j = judge(record_of({{0, code}}));
    EXPECT_EQ(j.verdict, Verdict::refused);
    EXPECT_THAT(j.reason, HasSubstr(why)) << code;
  }
}

TEST(Judge, EveryGridIsJudgedByWhatMemoryHeldBeforeIt) {
  const std::string text =
      kernel({{0, "atom.add.u32 %r4, [%rd1], 1;"}, {64, "atom.add.u32 %r4, [%rd1], 1;"}});
  const std::vector<ExecutionRecord> records =
      records_of(text,
                 "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [2, 1, 1]\nblock = [64, 1, 1]\n"
                 "[[launch.argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 64\n"
                 "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [2, 1, 1]\nblock = [64, 1, 1]\n"
                 "[[launch.argument]]\nbuffer = \"a\"\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].lines.begin()->second.before[0], 2);
  for (const ExecutionRecord& r : records) EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
}

}  // namespace judge_test
}  // namespace warpline::litmus::test
