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

/// A copy of the buffer's first word, a store behind it, and how a sibling learns of them.
ExecutionRecord record_of_copy(const std::string& arrives, const std::string& reads) {
  const std::string copies =
      "mbarrier.init.shared.b64 [%rd2], 1; st.release.cta.global.u32 [%rd1+128], 1;"
      "st.global.u32 [%rd1+4], 7; cp.async.ca.shared.global [%rd2+16], [%rd1], 4;" +
      arrives;
  const std::string waits =
      "W: ld.acquire.cta.global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra W;"
      "V: mbarrier.try_wait.parity.shared.b64 %p3, [%rd2], 0; @!%p3 bra V;" +
      reads;
  return record_of({{0, copies.c_str()}, {32, waits.c_str()}}, 1);
}
constexpr const char* kArrivesForCopies = "cp.async.mbarrier.arrive.noinc.shared.b64 [%rd2];";

TEST(Judge, CopiesAreOrderedByTheArrivalThatWaitsForThem) {
  for (const char* arrives : {kArrivesForCopies,
                              "cp.async.mbarrier.arrive.shared.b64 [%rd2]; cp.async.wait_all; "
                              "mbarrier.arrive.shared.b64 _, [%rd2];"}) {
    ExecutionRecord r = record_of_copy(arrives, "ld.shared.u32 %r5, [%rd2+16];");
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
    set(event(r, 32, 16).read, 1);
    EXPECT_EQ(judge(r).verdict, Verdict::violates) << arrives;
  }
  // What is there before the copy is 0, and so is what it brings: another value tells them apart.
  ExecutionRecord r = record_of_copy(kArrivesForCopies, "ld.shared.u32 %r5, [%rd2+16];");
  for (RecordedEvent& e : r.events)
    if (e.operation != 0) (e.reads ? e.read : e.written)[0] = 9;
  r.lines.begin()->second.before[0] = r.lines.begin()->second.after[0] = 9;
  EXPECT_EQ(judge(r).verdict, Verdict::violates) << "the sibling has read what was there before the copy";
  set(event(r, 32, 16).read, 9);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
}

/// The arrival for copies tells of nothing else.
TEST(Judge, AnArrivalForCopiesCoversNoEarlierStore) {
  ExecutionRecord r = record_of_copy(kArrivesForCopies, "ld.global.u32 %r5, [%rd1+4];");
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  set(event(r, 32, 4).read, 0);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  r = record_of_copy("cp.async.wait_all; mbarrier.arrive.shared.b64 _, [%rd2];",
                     "ld.global.u32 %r5, [%rd1+4];");
  set(event(r, 32, 4).read, 0);
  EXPECT_EQ(judge(r).axiom, "causality") << text_of(judge(r));
}

/// Of two groups of copies, a wait may leave the later one.
TEST(Judge, CopiesAreDoneWhereAWaitSaysSo) {
  for (const auto& [left, verdict] : {std::pair("0", Verdict::violates), std::pair("1", Verdict::obeys)}) {
    const std::string code =
        "cp.async.ca.shared.global [%rd2], [%rd1+64], 4; cp.async.commit_group;"
        "cp.async.ca.shared.global [%rd2+16], [%rd1], 16; cp.async.commit_group;"
        "cp.async.wait_group " +
        std::string(left) + "; ld.shared.u32 %r4, [%rd2+16]; ld.shared.u32 %r5, [%rd2];";
    ExecutionRecord r = record_of({{0, code.c_str()}}, 1);
    for (RecordedEvent& e : r.events)
      if (e.operation != 0) (e.reads ? e.read : e.written)[0] = 9;
    for (auto& [key, line] : r.lines)
      if (key.first == 0) line.before[0] = line.before[64] = line.after[0] = line.after[64] = 9;
    set(event(r, 0, 0, 2).read, 9);
    set(event(r, 0, 16, 1).read, 9);
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
    set(event(r, 0, 16, 1).read, 0);
    EXPECT_EQ(judge(r).verdict, verdict) << "left " << left << ": " << text_of(judge(r));
    set(event(r, 0, 16, 1).read, 9);
    set(event(r, 0, 0, 2).read, 0);
    EXPECT_EQ(judge(r).verdict, Verdict::violates) << "the first group is done";
  }
}

/// CTA 0 does `sends` to CTA 1 of its cluster, whose shared memory is at %rd3; that arrives as `arrives`
/// says, waits for its mbarrier, and reads.
ExecutionRecord record_of_sending(const std::string& sends, const std::string& arrives) {
  const std::string meets = "barrier.cluster.arrive; barrier.cluster.wait;";
  const std::string from =
      "mapa.shared::cluster.u64 %rd3, %rd2, 1;" + meets + "st.global.u32 [%rd1+4], 7;" + sends + meets;
  const std::string to = "mbarrier.init.shared.b64 [%rd2], 1;" + meets + arrives +
                         "V: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p3, [%rd2], 0; @!%p3 bra V;"
                         "ld.shared.u32 %r4, [%rd2+16]; ld.global.u32 %r5, [%rd1+4];" +
                         meets;
  std::string ptx = kernel({{0, from.c_str()}, {64, to.c_str()}});
  ptx.insert(ptx.find("\n{\n") + 1, ".reqnctapercluster 2, 1, 1\n");
  return records_of(ptx, launch(2), {}, 1000, {"sm_network.present=true"}).at(0);
}
std::string expecting(unsigned bytes) {
  return "mbarrier.arrive.expect_tx.release.cluster.shared.b64 _, [%rd2], " + std::to_string(bytes) + ";";
}

TEST(Judge, AsynchronousStoresAreThereWhenTheirMbarrierIsTold) {
  const std::string store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes";
  for (const std::string& sends :
       {store + ".u32 [%rd3+16], %r9, [%rd3];", store + ".v2.u32 [%rd3+16], {%r9, %r10}, [%rd3];",
        std::string("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
                    "[%rd3+16], %r9, [%rd3];")}) {
    ExecutionRecord r = record_of_sending("mov.u32 %r9, 5; mov.u32 %r10, 6;" + sends,
                                          expecting(sends.find(".v2") != std::string::npos ? 8 : 4));
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << sends << text_of(judge(r));
    EXPECT_EQ(event(r, 64, 16).read[0], 5);
    set(event(r, 64, 16).read, 0);
    EXPECT_EQ(judge(r).axiom, "causality") << sends << text_of(judge(r));
    set(event(r, 64, 16).read, 8);
    EXPECT_EQ(judge(r).axiom, "reads-from") << sends;
    // That the mbarrier is told says nothing of what came before.
    set(event(r, 64, 16).read, 5);
    set(event(r, 64, 4).read, 0);
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << sends << text_of(judge(r));
  }
}

TEST(Judge, ArrivalsAtAnotherCtasMbarrierOrderWhatWaitsForThem) {
  for (const auto& [order, verdict] :
       {std::pair(".release.cluster", Verdict::violates), std::pair(".relaxed.cluster", Verdict::obeys)}) {
    ExecutionRecord r =
        record_of_sending("mbarrier.arrive" + std::string(order) + ".shared::cluster.b64 _, [%rd3];", "");
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
    set(event(r, 64, 4).read, 0);
    EXPECT_EQ(judge(r).verdict, verdict) << order << ' ' << text_of(judge(r));
  }
}

/// A bulk copy of what its thread has stored before, to shared memory; `fence` between them.
ExecutionRecord record_of_bulk_copy(const std::string& fence) {
  const std::string code =
      "mbarrier.init.shared.b64 [%rd2], 1; st.global.u32 [%rd1], 7;" + fence +
      "mbarrier.arrive.expect_tx.shared.b64 _, [%rd2], 32;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd2+16], [%rd1], 32, [%rd2];"
      "V: mbarrier.try_wait.parity.shared.b64 %p3, [%rd2], 0; @!%p3 bra V; ld.shared.u32 %r4, [%rd2+16];";
  return record_of({{0, code.c_str()}}, 1);
}

TEST(Judge, BulkCopiesReadWhatAProxyFenceMakesKnownAndAreThereWhenTheirMbarrierIsTold) {
  for (const auto& [fence, verdict] :
       {std::pair("fence.proxy.async;", Verdict::violates),
        std::pair("fence.proxy.async.global;", Verdict::violates),
        std::pair("fence.proxy.async.shared::cta;", Verdict::obeys), std::pair("", Verdict::obeys)}) {
    ExecutionRecord r = record_of_bulk_copy(fence);
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << fence << text_of(judge(r));
    EXPECT_EQ(event(r, 0, 16, 2).read[0], 7);
    // Had the copy read what was there before the store:
    for (RecordedEvent& e : r.events)
      if (e.operation != 0 && e.element == 0 && e.part != RecordedEvent::Part::told)
        (e.reads ? e.read : e.written)[0] = 0;
    set(event(r, 0, 16, 2).read, 0);
    EXPECT_EQ(judge(r).verdict, verdict) << fence << text_of(judge(r));
  }
  ExecutionRecord r = record_of_bulk_copy("fence.proxy.async;");
  set(event(r, 0, 16, 2).read, 0);
  EXPECT_EQ(judge(r).axiom, "causality") << "the copy was there: " << text_of(judge(r));
}

TEST(Judge, BulkCopiesToGlobalMemoryAreThereBehindAWait) {
  for (const auto& [wait, verdict] : {std::pair("", Verdict::violates), std::pair(".read", Verdict::obeys)}) {
    const std::string code =
        "st.shared.u32 [%rd2+16], 5; fence.proxy.async.shared::cta;"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%rd2+16], 16; cp.async.bulk.commit_group;"
        "cp.async.bulk.wait_group" +
        std::string(wait) + " 0; ld.global.u32 %r4, [%rd1]; st.shared.u32 [%rd2+16], 6;";
    ExecutionRecord r = record_of({{0, code.c_str()}}, 1);
    EXPECT_EQ(judge(r).verdict, Verdict::obeys) << wait << text_of(judge(r));
    set(event(r, 0, 0, 1).read, 0);
    EXPECT_EQ(judge(r).verdict, verdict) << wait << text_of(judge(r));
    // Behind either wait, the source may be overwritten: the copy has not read the 6.
    set(event(r, 0, 0, 1).read, 6);
    for (RecordedEvent& e : r.events)
      if (e.operation != 0 && e.kind == RecordedEvent::Kind::access) (e.reads ? e.read : e.written)[0] = 6;
    for (auto& [key, line] : r.lines)
      if (key.first == 0) line.after[0] = 6;
    EXPECT_EQ(judge(r).verdict, Verdict::violates) << wait << text_of(judge(r));
  }
}

TEST(Judge, BulkCopiesBetweenCtasAreThereWhenTheirMbarrierIsTold) {
  ExecutionRecord r = record_of_sending(
      "mov.u32 %r9, 5; st.shared.u32 [%rd2+32], %r9; fence.proxy.async.shared::cta;"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%rd3+16], [%rd2+32], 16, "
      "[%rd3];",
      expecting(16));
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  EXPECT_EQ(event(r, 64, 16).read[0], 5);
  set(event(r, 64, 16).read, 0);
  EXPECT_EQ(judge(r).axiom, "causality") << text_of(judge(r));
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
      {"cp.async.ca.shared.global [%rd2], [%rd1], 4, 2; cp.async.wait_all;",
       "asynchronous copies that fill with zeros ("},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 16; "
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], "
       "[%rd2], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
       "bulk reductions ("},
      {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
       "one-way fences of the async proxy ("},
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
