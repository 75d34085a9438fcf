#include <gtest/gtest.h>

#include "tests/rtl_models/pcie/gpu_link/bench_of_pcie.h"

namespace warpline::test {
namespace pcie_test {

PcieParameters short_link() {
  PcieParameters p;
  p.latency = 20;
  return p;
}

TEST(Pcie, AnIdleReadCostsItsStages) {
  for (const SectorMask sectors : {SectorMask{0x1}, SectorMask{0x9}, SectorMask{0xF}}) {
    PcieBench bench(short_link(), {{read_item(50, sys(0), sectors)}});
    ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
    // One cycle on each channel.
    EXPECT_EQ(bench.l2[0]->answers[0].answered, 50U + 1 + bench.link.core().idle_read_cycles(sectors) + 1);
  }
}

TEST(Pcie, CyclesAreOfItsOwnClock) {
  const ClockDomain slow(5, 2);
  PcieBench bench(short_link(), {{read_item(50, sys(0), 0xF)}}, true, slow);
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const Cycle answered = slow.after(slow.align(51), bench.link.core().idle_read_cycles(0xF));
  EXPECT_EQ(bench.l2[0]->answers[0].answered, slow.after(answered, 1));
}

TEST(Pcie, AWriteIsAnsweredWhenItIsOnTheWireAndPerformedWhenItArrives) {
  PcieBench bench(short_link(), {{write_item(10, sys(128), bytes(4, 4), 0xAB)}});
  // Popped at 11; 28 bytes take two cycles; then 20 of latency.
  ASSERT_EQ(bench.engine.run_until(11 + 2 + 20 - 1), RunOutcome::cycle_limit);
  EXPECT_EQ(bench.l2[0]->answers[0].answered, 11U + 2 + 1);
  EXPECT_EQ(bench.value<std::uint32_t>(132), 0U);
  EXPECT_TRUE(bench.link.busy());
  ASSERT_EQ(bench.engine.run_until(11 + 2 + 20), RunOutcome::quiescent);
  EXPECT_EQ(bench.value<std::uint32_t>(132), 0xABABABABU);
  EXPECT_EQ(bench.value<std::uint64_t>(136), 0U);
}

TEST(Pcie, DataIsPerformedInTheOrderOfTheWire) {
  PcieBench bench(short_link(), {{write_item(0, sys(0), bytes(0, 32), 1), read_item(0, sys(0), 1),
                                  write_item(0, sys(0), bytes(0, 32), 2), read_item(0, sys(0), 1)}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.l2[0]->answers[1].data[7], 1U);
  EXPECT_EQ(bench.l2[0]->answers[3].data[7], 2U);
}

TEST(Pcie, BothWiresAreBusyOneEach) {
  // 40 reads of a line: requests of 2 cycles, completions of 10; the way down is the narrow one.
  std::vector<Item> items;
  for (unsigned i = 0; i < 40; ++i) items.push_back(read_item(0, sys(i * 128ULL), 0xF));
  PcieBench bench(short_link(), {items});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const auto& answers = bench.l2[0]->answers;
  for (std::size_t i = 1; i < answers.size(); ++i)
    EXPECT_EQ(answers[i].answered, answers[i - 1].answered + 10);
  const PcieCounters& c = bench.link.counters();
  EXPECT_EQ(c.bytes_down, 40U * 128);
  EXPECT_EQ(c.bytes_up, 0U);
  EXPECT_EQ(c.tlp_bytes, 40U * (24 + 24 + 128));
}

TEST(Pcie, TagsBoundTheReadsInFlight) {
  PcieParameters p = short_link();
  p.tags = 2;
  std::vector<Item> items;
  for (unsigned i = 0; i < 6; ++i) items.push_back(read_item(0, sys(0), 1));
  PcieBench bench(p, {items, {write_item(4, sys(256), bytes(0, 4), 1)}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const Cycle round_trip = bench.link.core().idle_read_cycles(1);
  const auto& answers = bench.l2[0]->answers;
  // The third starts when the first is answered; a posted write of another port passes.
  EXPECT_EQ(answers[2].answered, answers[0].answered + round_trip);
  EXPECT_LE(bench.l2[1]->answers[0].answered, 4U + 1 + 4 + 2 + 1);
}

TEST(Pcie, AtomicOpsTravelLaneByLane) {
  PcieBench bench(short_link(),
                  {{atomic_item(10, sys(256), lanes_at(AtomicOperation::add, DataType::u32, 3, 8, 5))}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const Answer& a = bench.l2[0]->answers[0];
  EXPECT_EQ(a.answered, 10U + 1 + 3 * 2 + 20 + 3 * 2 + 20 + 1);
  EXPECT_EQ(a.atomics.lanes[2].old_value, 10U);
  EXPECT_EQ(bench.value<std::uint32_t>(264), 15U);
  EXPECT_EQ(bench.link.counters().bytes_up, 12U);
  EXPECT_EQ(bench.link.counters().bytes_down, 12U);
  EXPECT_EQ(bench.link.counters().cas_loops, 0U);
}

TEST(Pcie, OtherAtomicsTakeOneMoreRoundTrip) {
  PcieBench bench(short_link(),
                  {{atomic_item(10, sys(256), lanes_at(AtomicOperation::max, DataType::u32, 3, 8, 5))}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const Answer& a = bench.l2[0]->answers[0];
  // One word: its read and its swap, each answered by a packet with a word.
  EXPECT_EQ(a.answered, 10U + 1 + (2 + 20 + 2 + 20) + (2 + 20 + 2 + 20) + 1);
  EXPECT_EQ(a.atomics.lanes[0].old_value, 0U);
  EXPECT_EQ(a.atomics.lanes[2].old_value, 5U);
  EXPECT_EQ(bench.value<std::uint32_t>(264), 5U);
  EXPECT_EQ(bench.link.counters().cas_loops, 1U);
  EXPECT_EQ(bench.link.counters().cas_retries, 0U);
  EXPECT_EQ(bench.link.counters().bytes_up, 8U);
}

TEST(Pcie, LoopsOnOneLineGoOneAfterTheOther) {
  std::vector<std::vector<Item>> items(4);
  for (auto& list : items)
    for (unsigned i = 0; i < 10; ++i)
      list.push_back(atomic_item(0, sys(0), lanes_at(AtomicOperation::add, DataType::f32, 2, 4, 0x3F800000)));
  PcieBench bench(short_link(), items);
  ASSERT_EQ(bench.engine.run_until(1000000), RunOutcome::quiescent);
  EXPECT_EQ(bench.value<float>(4), 80.0F);
  EXPECT_EQ(bench.link.counters().cas_loops, 40U);
  EXPECT_EQ(bench.link.counters().cas_retries, 0U);
}

TEST(Pcie, ALoopTriesAgainWhenTheHostWasFaster) {
  PcieBench bench(short_link(),
                  {{atomic_item(10, sys(0), lanes_at(AtomicOperation::max, DataType::u32, 1, 0, 5))}});
  // Its read is sampled at 33, its swap arrives at 77.
  ASSERT_EQ(bench.engine.run_until(50), RunOutcome::cycle_limit);
  bench.memory.at(0)[0] = 3;
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.l2[0]->answers[0].answered, 10U + 1 + 3 * 44 + 1);
  EXPECT_EQ(bench.l2[0]->answers[0].atomics.lanes[0].old_value, 3U);
  EXPECT_EQ(bench.value<std::uint32_t>(0), 5U);
  EXPECT_EQ(bench.link.counters().cas_retries, 1U);
}

TEST(Pcie, AReadBehindALoopSeesItsResult) {
  PcieBench bench(short_link(),
                  {{atomic_item(0, sys(0), lanes_at(AtomicOperation::max, DataType::u32, 1, 0, 5)),
                    read_item(0, sys(0), 1)},
                   {read_item(20, sys(256), 1)}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.l2[0]->answers[1].data[0], 5U);
  // Other lines do not wait.
  EXPECT_EQ(bench.l2[1]->answers[0].answered, 20U + 1 + bench.link.core().idle_read_cycles(1) + 1);
}

TEST(Pcie, WithoutAtomicOpsTheyAreReadThenWritten) {
  PcieParameters p = short_link();
  p.atomic_ops = false;
  std::vector<std::vector<Item>> items(4);
  for (auto& list : items)
    for (unsigned i = 0; i < 10; ++i)
      list.push_back(atomic_item(0, sys(0), lanes_at(AtomicOperation::add, DataType::u32, 2, 4, 1)));
  PcieBench bench(p, items);
  ASSERT_EQ(bench.engine.run_until(1000000), RunOutcome::quiescent);
  EXPECT_EQ(bench.value<std::uint32_t>(4), 80U);
  EXPECT_EQ(bench.link.counters().unsupported_atomics, 40U);
  EXPECT_EQ(bench.link.counters().cas_loops, 0U);

  PcieBench alone(p, {{items[0][0]}});
  ASSERT_EQ(alone.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(alone.l2[0]->answers[0].answered, 0U + 1 + (2 + 20 + 2 + 20) + 2 + 1);
}

TEST(Pcie, ReductionsAreAnsweredToo) {
  Item item = atomic_item(0, sys(0), lanes_at(AtomicOperation::add, DataType::u32, 32, 0, 1));
  item.request.command = Command::reduce;
  PcieParameters p = short_link();
  p.tags = 4;  // fewer than lanes: it takes all of them
  PcieBench bench(p, {{item, read_item(0, sys(0), 1)}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.value<std::uint32_t>(0), 32U);
  EXPECT_EQ(bench.l2[0]->answers[1].data[0], 32U);
}

TEST(Pcie, BeyondTheMemoryIsAnError) {
  const PhysicalAddress beyond = sys(65536);
  PcieBench bench(short_link(),
                  {{read_item(0, beyond, 1), write_item(0, beyond, bytes(0, 4), 1),
                    atomic_item(0, beyond, lanes_at(AtomicOperation::max, DataType::u32, 1, 0, 1)),
                    read_item(0, sys(65536 - 128), 1)}});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  const auto& answers = bench.l2[0]->answers;
  EXPECT_EQ(answers[0].status, Status::address_error);
  EXPECT_EQ(answers[1].status, Status::address_error);
  EXPECT_EQ(answers[2].status, Status::address_error);
  EXPECT_EQ(answers[3].status, Status::ok);
  EXPECT_EQ(bench.link.counters().address_errors, 3U);
}

TEST(Pcie, WhatIsNoAddressOfSystemMemoryIsAnError) {
  const PhysicalAddress in_video{0}, in_peer = physical(Aperture::peer, 0),
                                     above{sys(0).value | std::uint64_t{1} << 63U};
  for (const bool with_memory : {true, false}) {
    PcieBench bench(
        short_link(),
        {{write_item(0, in_video, bytes(0, 4), 1), write_item(0, in_peer, bytes(0, 4), 1),
          write_item(0, above, bytes(0, 4), 1), read_item(0, in_peer, 1), read_item(0, sys(0), 1)}},
        with_memory);
    ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
    const auto& answers = bench.l2[0]->answers;
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(answers[i].status, Status::address_error) << i;
    EXPECT_EQ(answers[4].status, Status::ok);
    EXPECT_EQ(bench.value<std::uint32_t>(0), 0U);
    EXPECT_EQ(bench.link.counters().address_errors, 4U);
  }
}

TEST(Pcie, WithoutMemoryItKeepsTimeOnly) {
  for (const AtomicOperation o : {AtomicOperation::add, AtomicOperation::max}) {
    const std::vector<std::vector<Item>> items = {
        {read_item(0, sys(0), 3), write_item(0, sys(1ULL << 40U), bytes(0, 64), 1),
         atomic_item(0, sys(0), lanes_at(o, DataType::u32, 1, 0, 7))}};
    PcieBench with(short_link(), {{items[0][0], items[0][2]}});
    PcieBench without(short_link(), {{items[0][0], items[0][2]}}, false);
    PcieBench anywhere(short_link(), items, false);
    ASSERT_EQ(with.engine.run_until(10000), RunOutcome::quiescent);
    ASSERT_EQ(without.engine.run_until(10000), RunOutcome::quiescent);
    ASSERT_EQ(anywhere.engine.run_until(10000), RunOutcome::quiescent);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(with.l2[0]->answers[i].answered, without.l2[0]->answers[i].answered);
    EXPECT_EQ(anywhere.l2[0]->answers[1].status, Status::ok);
  }
}

TEST(Pcie, ExplainsWhatItHolds) {
  PcieBench bench(short_link(), {{read_item(0, sys(0), 1)}});
  ASSERT_EQ(bench.engine.run_until(10), RunOutcome::cycle_limit);
  std::vector<Wait> waits;
  bench.link.explain(waits);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].who, "pcie");
}

}  // namespace pcie_test
}  // namespace warpline::test
