// What the checker says of recorded grids whose accesses are of several sizes, atomic, or of memories of
// every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/consistency/recorded_run.h"

namespace warpline::litmus::test {
namespace judge_memory_test {

using ::testing::HasSubstr;
using Verdict = Judgement::Verdict;

TEST(Judge, EveryTransportIsRecorded) {
  RunOptions loose;
  loose.loose = true;
  ExecutionRecord r = record_of({kWriter, kReader}, 2, loose);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::obeys) << text_of(j);
  EXPECT_GE(j.events, 8U);
}

TEST(Judge, MemoryBeyondTheLinkIsRecorded) {
  for (const auto& [scope, memory] : {std::pair("gpu", "sysmem"), std::pair("sys", "sysmem"),
                                      std::pair("gpu", "peer"), std::pair("sys", "peer")}) {
    const std::string writer =
        std::string("st.global.u32 [%rd1], 7; st.release.") + scope + ".global.u32 [%rd1+128], 1;";
    const std::string reader = std::string("W: ld.acquire.") + scope +
                               ".global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra W;"
                               "ld.global.u32 %r5, [%rd1]; atom.add.u32 %r5, [%rd1], 1;";
    ExecutionRecord r = records_of(kernel({{0, writer.c_str()}, {64, reader.c_str()}}),
                                   launch(2, (std::string("aperture = \"") + memory + "\"\n").c_str()))
                            .at(0);
    const Judgement j = judge(r);
    EXPECT_EQ(j.verdict, Verdict::obeys) << text_of(j);
    EXPECT_EQ(event(r, 64, 0, 1).written[0], 8);
    set(event(r, 64, 0).read, 0);
    EXPECT_EQ(judge(r).verdict, Verdict::violates) << memory << " held 0 before the release only";
  }
}

/// Who polls by an atomic that changes nothing writes the same value again and again.
TEST(Judge, AtomicsThatLeaveTheValueAsItIsAreNoRiddle) {
  const char* const poll =
      "ld.volatile.global.u32 %r4, [%rd1+128]; atom.relaxed.sys.global.add.u32 %r5, [%rd1+128], 0;"
      "ld.mmio.relaxed.sys.global.u32 %r6, [%rd1+128]; fence.acq_rel.sys; ld.global.u32 %r7, [%rd1];"
      "ld.global.u16 %r9, [%rd1+4]; red.global.add.u32 [%rd1+8], 4; ld.global.v2.u32 {%r10, %r11}, [%rd1+8];";
  const char* const set =
      "st.global.u32 [%rd1], 7; st.global.u8 [%rd1+5], 9; red.global.add.u32 [%rd1+8], 3;"
      "fence.acq_rel.sys; st.mmio.relaxed.sys.global.u32 [%rd1+128], 1;";
  std::vector<ThreadCode> threads = {{0, set}};
  for (unsigned cta = 1; cta < 6; ++cta) threads.push_back({64 * cta, poll});
  for (const char* const memory : {"vidmem", "sysmem", "peer"})
    for (RunOptions options; options.jitter.value_or(0) < 10;) {
      options.jitter = options.jitter.value_or(0) + 1;
      const std::string where = std::string("aperture = \"") + memory + "\"\n";
      const ExecutionRecord r = records_of(kernel(threads), launch(6, where.c_str()), options).at(0);
      const Judgement j = judge(r);
      EXPECT_EQ(j.verdict, Verdict::obeys) << memory << ", jitter " << *options.jitter << ": " << text_of(j);
    }
}

TEST(Judge, ReductionsCountThoughNobodyGetsTheirValues) {
  ExecutionRecord r =
      record_of({{0, "red.add.u32 [%rd1], 2; red.max.s32 [%rd1+4], 5; red.shared.add.u32 [%rd2], 1;"},
                 {1, "red.add.u32 [%rd1], 3; red.max.s32 [%rd1+4], 4; red.shared.add.u32 [%rd2], 1;"},
                 {64, "red.add.u32 [%rd1], 4;"}});
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  std::uint8_t most = 0;
  for (const RecordedEvent& e : r.events)
    if (e.space == 0 && e.address == r.buffers.at(0).address) most = std::max(most, e.written[0]);
  EXPECT_EQ(most, 9);
}

TEST(Judge, AtomicsAreAtomic) {
  const char* const both = "atom.add.u32 %r4, [%rd1], 1;";
  ExecutionRecord r = record_of({{0, both}, {64, both}, {128, both}, {129, both}}, 3);
  const Judgement good = judge(r);
  EXPECT_EQ(good.verdict, Verdict::obeys) << text_of(good);
  EXPECT_EQ(good.events, 1U + 4 * 2);
  // The third to take effect finds what the first left, as if the second were not there.
  std::vector<RecordedEvent*> atomics;
  for (RecordedEvent& e : r.events) atomics.push_back(&e);
  std::sort(atomics.begin(), atomics.end(), [](auto* a, auto* b) { return a->coherent < b->coherent; });
  set(atomics[2]->read, 1);
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::violates) << text_of(j);
  EXPECT_EQ(j.axiom, "atomicity");
}

TEST(Judge, AFailedCompareAndSwapWritesNothing) {
  ExecutionRecord r = record_of({{0, "atom.cas.b32 %r4, [%rd1], 3, 4;"}, {64, "st.global.u32 [%rd1], 0;"}});
  EXPECT_FALSE(event(r, 0, 0).writes);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
}

TEST(Judge, MemoryThatOneThreadHasToItselfIsCheckedAtOnce) {
  ExecutionRecord r =
      record_of({{0, "st.global.u32 [%rd1], 1; ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd1+64];"},
                 {64, "ld.global.u32 %r4, [%rd1+64];"}});
  const Judgement j = judge(r);
  EXPECT_EQ(j.verdict, Verdict::obeys);
  EXPECT_EQ(j.events, 0U);
  EXPECT_EQ(j.accesses, 4U);
  set(event(r, 0, 0, 1).read, 0);
  EXPECT_EQ(judge(r).axiom, "coherence");
  set(event(r, 0, 0, 1).read, 1);
  set(event(r, 64, 64).read, 1);
  EXPECT_EQ(judge(r).axiom, "coherence") << "nobody writes there";
}

TEST(Judge, PartsOfAWordAreWrittenByDifferentThreads) {
  ExecutionRecord r = record_of({{0, "mov.u32 %r4, 0x1111; st.global.u16 [%rd1], 0x1111;"},
                                 {1, "st.global.u16 [%rd1+2], 0x2222;"},
                                 {64, "nanosleep.u32 2000; ld.volatile.global.u32 %r4, [%rd1];"}});
  EXPECT_EQ(event(r, 64, 0).read[2], 0x22);
  EXPECT_EQ(judge(r).verdict, Verdict::obeys) << text_of(judge(r));
  event(r, 64, 0).read[3] = 0x11;
  EXPECT_EQ(judge(r).axiom, "reads-from");
}

}  // namespace judge_memory_test
}  // namespace warpline::litmus::test
