// Links of several GPUs to one system memory.
#include <gtest/gtest.h>

#include "tests/rtl_models/pcie/gpu_link/bench_of_pcie.h"

namespace warpline::test {
namespace pcie_links_test {

PcieParameters short_link(bool atomic_ops = true) {
  PcieParameters p;
  p.latency = 20;
  p.atomic_ops = atomic_ops;
  return p;
}

/// Two links with a requester each.
struct TwoLinks {
  TwoLinks(const PcieParameters& parameters, const std::vector<Item>& first, const std::vector<Item>& second,
           TickMode mode = TickMode::lazy, std::uint64_t seed = 1)
      : engine(mode, seed),
        memory(65536),
        link0(engine, "gpu[0].pcie", ClockDomain{}, parameters, &memory, 1),
        link1(link0, "gpu[1].pcie", 1),
        l2{{engine, "a", ClockDomain{}, first}, {engine, "b", ClockDomain{}, second, 1, 1ULL << 32U}} {
    PcieLink* links[] = {&link0, &link1};
    for (unsigned i = 0; i < 2; ++i) {
      connect(l2[i].out, links[i]->from_l2(0), PcieBench::kChannel);
      connect(links[i]->to_l2(0), l2[i].in, PcieBench::kChannel);
    }
  }
  [[nodiscard]] std::uint32_t word(std::uint64_t offset) const {
    std::uint32_t v = 0;
    std::memcpy(&v, memory.at(offset), sizeof v);
    return v;
  }
  Engine engine;
  MemoryImage memory;
  PcieLink link0, link1;
  Requester l2[2];
};

Item add(Cycle at, AtomicOperation operation = AtomicOperation::add, std::uint64_t operand = 1) {
  return atomic_item(at, sys(0), lanes_at(operation, DataType::u32, 1, 0, operand));
}

TEST(PcieLinks, AtomicsOfBothAreAtomic) {
  for (const AtomicOperation operation : {AtomicOperation::add, AtomicOperation::increment}) {
    const std::uint64_t operand = operation == AtomicOperation::add ? 1 : 0xFFFF;
    const std::vector<Item> items(20, add(0, operation, operand));
    TwoLinks bench(short_link(), items, items);
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    EXPECT_EQ(bench.word(0), 40U);
    const std::uint64_t retries = bench.link0.counters().cas_retries + bench.link1.counters().cas_retries;
    EXPECT_EQ(retries != 0, operation == AtomicOperation::increment);
  }
}

TEST(PcieLinks, WithoutAtomicOpsAnUpdateInBetweenIsLost) {
  const PcieParameters p = short_link(false);
  // Each takes 42 cycles to read and come back, so what starts at once reads the same word.
  TwoLinks both(p, {add(0)}, {add(0)});
  ASSERT_EQ(both.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(both.word(0), 1U);
  EXPECT_EQ(both.l2[0].answers[0].atomics.lanes[0].old_value, 0U);
  EXPECT_EQ(both.l2[1].answers[0].atomics.lanes[0].old_value, 0U);
  TwoLinks apart(p, {add(0)}, {add(200)});
  ASSERT_EQ(apart.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(apart.word(0), 2U);
}

TEST(PcieLinks, WithoutAtomicOpsASwapThatFailsWritesNothing) {
  AtomicBlock swap = lanes_at(AtomicOperation::compare_and_swap, DataType::u32, 1, 0, 5);
  swap.lanes[0].second = 9;
  TwoLinks bench(short_link(false), {atomic_item(0, sys(0), swap)}, {write_item(30, sys(0), bytes(0, 4), 7)});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.word(0), 0x07070707U) << "written after the swap has read, before it would have written";
  EXPECT_EQ(bench.l2[0].answers[0].atomics.lanes[0].old_value, 0U);
  EXPECT_FALSE(bench.link0.busy());
}

TEST(PcieLinks, OfOneCycleTheFirstLinkIsFirstWhateverTicksFirst) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TickMode mode = seed == 0   ? TickMode::lazy
                          : seed == 1 ? TickMode::every_cycle
                                      : TickMode::spurious_and_shuffled;
    TwoLinks bench(short_link(), {add(3), write_item(50, sys(128), bytes(0, 4), 1)},
                   {add(3), write_item(50, sys(128), bytes(0, 4), 2)}, mode, seed);
    ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
    EXPECT_EQ(bench.l2[0].answers[0].atomics.lanes[0].old_value, 0U) << seed;
    EXPECT_EQ(bench.l2[1].answers[0].atomics.lanes[0].old_value, 1U) << seed;
    EXPECT_EQ(bench.word(128), 0x02020202U) << seed;
  }
}

TEST(PcieLinks, APacketTakesEffectWhenItArrives) {
  // On the wire up at 2 to 4, at the memory at 24; a read of the other link arrives at 23, one more at 24.
  TwoLinks bench(short_link(), {write_item(1, sys(0), bytes(0, 4), 7)},
                 {read_item(0, sys(0), 1), read_item(0, sys(0), 1)});
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(bench.l2[1].answers[0].data[0], 0U);
  EXPECT_EQ(bench.l2[1].answers[1].data[0], 7U);
}

}  // namespace pcie_links_test
}  // namespace warpline::test
