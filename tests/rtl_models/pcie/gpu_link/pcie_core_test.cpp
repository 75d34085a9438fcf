#include "rtl_models/pcie/gpu_link/pcie_core.h"

#include <gtest/gtest.h>

#include <cstring>

#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "tests/support/naive_atomic.h"

namespace warpline {
namespace pcie_core_test {

using namespace test;

PhysicalAddress sys(std::uint64_t offset) {
  return physical(Aperture::sysmem, offset);
}

PcieParameters link() {
  PcieParameters p;
  p.bytes_per_cycle = 16;
  p.tlp_overhead = 24;
  return p;
}

void expect_train(const PcieTrain& train, unsigned packets, unsigned payload, unsigned cycles) {
  EXPECT_EQ(train.packets, packets);
  EXPECT_EQ(train.payload, payload);
  EXPECT_EQ(train.cycles, cycles);
}

TEST(PcieCore, PacketsOfReads) {
  const PcieCore core(link());
  expect_train(core.read_request(), 1, 0, 2);
  expect_train(core.read_completion(0x1), 1, 32, 4);
  expect_train(core.read_completion(0xF), 1, 128, 10);
  PcieParameters narrow = link();
  narrow.max_payload = 48;
  expect_train(PcieCore(narrow).read_completion(0xF), 3, 128, 5 + 5 + 4);
  EXPECT_EQ(core.idle_read_cycles(0x5), 2U + 2 * 250 + 6);
}

TEST(PcieCore, PacketsOfWritesAreRunsOfDoubleWords) {
  const PcieCore core(link());
  ByteMask one, two, gap;
  one.set(5, 1);
  two.set(6, 4);  // parts of two double words
  gap.set(0, 1);
  gap.set(8, 1);
  gap.set(60, 8);  // across the halves of the mask
  expect_train(core.write(one), 1, 4, 2);
  expect_train(core.write(two), 1, 8, 2);
  expect_train(core.write(gap), 3, 4 + 4 + 8, 6);
  expect_train(core.write(ByteMask::of_sectors(0xF)), 1, 128, 10);
  expect_train(core.write(ByteMask{}), 1, 0, 2);
}

AtomicBlock block(AtomicOperation operation, DataType type,
                  const std::vector<std::array<std::uint64_t, 3>>& lanes) {
  AtomicBlock b;
  b.operation = operation;
  b.type = type;
  for (const auto& [offset, operand, second] : lanes) {
    LaneAtomic& lane = b.lanes[b.count];
    lane.lane = static_cast<std::uint8_t>(b.count++);
    lane.offset = static_cast<std::uint8_t>(offset);
    lane.operand = operand;
    lane.second = second;
  }
  return b;
}

TEST(PcieCore, PacketsOfAtomics) {
  const PcieCore core(link());
  const AtomicBlock add = block(AtomicOperation::add, DataType::u64, {{0, 1, 0}, {8, 1, 0}, {8, 1, 0}});
  expect_train(core.atomic_request(add), 3, 24, 6);
  expect_train(core.atomic_completion(add), 3, 24, 6);
  const AtomicBlock cas = block(AtomicOperation::compare_and_swap, DataType::b32, {{0, 1, 2}});
  expect_train(core.atomic_request(cas), 1, 8, 2);
}

TEST(PcieCore, WhichAtomicsTheLinkCarries) {
  using O = AtomicOperation;
  using T = DataType;
  const PcieCore core(link());
  for (const O o : {O::add, O::min, O::max, O::bit_and, O::bit_or, O::bit_xor, O::exchange,
                    O::compare_and_swap, O::increment, O::decrement}) {
    for (const T t : {T::b16, T::b32, T::b64, T::u32, T::u64, T::s32, T::s64, T::f32, T::f64}) {
      if (!is_atomic_legal(o, t)) continue;
      const bool native = (o == O::add && t != T::f32 && t != T::f64) || o == O::exchange ||
                          (o == O::compare_and_swap && t != T::b16);
      EXPECT_EQ(core.way_of(block(o, t, {})) == PcieAtomicWay::atomic_op, native);
      EXPECT_EQ(core.way_of(block(o, t, {})) == PcieAtomicWay::compare_and_swap, !native);
    }
  }
  PcieParameters plain = link();
  plain.atomic_ops = false;
  EXPECT_EQ(PcieCore(plain).way_of(block(O::add, T::u32, {})), PcieAtomicWay::read_and_write);
}

/// The end of a link at system memory; a null image: tags only.
struct EndBench {
  explicit EndBench(MemoryImage* image)
      : any(engine, "any", ClockDomain{}, link(), nullptr, 1),
        core(link()),
        transfers(core, counters, image != nullptr),
        end(any, core, transfers, counters, {Aperture::sysmem, image, nullptr, image != nullptr, 0}) {}
  Engine engine;
  PcieLink any;
  PcieCore core;
  PcieCounters counters;
  PcieTransfers transfers;
  MemoryEnd end;
};

TEST(MemoryEnd, ReachesLinesOfItsMemory) {
  MemoryImage memory(1024);
  EXPECT_TRUE(EndBench(&memory).end.reaches(sys(1024 - 128)));
  EXPECT_FALSE(EndBench(&memory).end.reaches(sys(1024)));
  EXPECT_FALSE(EndBench(&memory).end.reaches(sys((1ULL << 60U) - 128)));
  EXPECT_FALSE(EndBench(&memory).end.reaches(physical(Aperture::peer, 0)));
  EXPECT_TRUE(EndBench(nullptr).end.reaches(sys(1ULL << 50U)));
}

TEST(MemoryEnd, AtomicsTakeLanesInOrder) {
  MemoryImage memory(4096);
  EndBench bench(&memory);
  Request r;
  AtomicBlock b = block(AtomicOperation::add, DataType::u32, {{4, 1, 0}, {4, 2, 0}, {8, 3, 0}, {4, 4, 0}});
  r.command = Command::atomic;
  r.atomics = &b;
  r.line = sys(256);
  std::uint64_t t = 0;
  bench.end.perform(t, bench.transfers.begin(r, 0, false, true));
  EXPECT_EQ(b.lanes[0].old_value, 0U);
  EXPECT_EQ(b.lanes[1].old_value, 1U);
  EXPECT_EQ(b.lanes[2].old_value, 0U);
  EXPECT_EQ(b.lanes[3].old_value, 3U);
  std::uint32_t words[3];
  std::memcpy(words, memory.at(256), sizeof words);
  EXPECT_EQ(words[1], 7U);
  EXPECT_EQ(words[2], 3U);
}

TEST(PcieSwap, IsTriedAgainWhereAWordChanged) {
  std::array<std::uint32_t, kLineBytes / 4> words{};
  auto* const line = reinterpret_cast<std::uint8_t*>(words.data());
  AtomicBlock b = block(AtomicOperation::max, DataType::u32, {{0, 5, 0}, {4, 6, 0}, {4, 9, 0}});
  PcieSwap swap(b);
  EXPECT_EQ(swap.left(), 2U);
  swap.see(line);
  swap.want(b);
  words[1] = 7;  // somebody else, meanwhile
  EXPECT_TRUE(swap.try_swap(line));
  EXPECT_FALSE(swap.is_left(0));
  EXPECT_TRUE(swap.is_left(1));
  EXPECT_EQ(words[0], 5U);
  EXPECT_EQ(words[1], 7U);
  swap.want(b);
  EXPECT_FALSE(swap.try_swap(line));
  EXPECT_EQ(words[1], 9U);
  EXPECT_EQ(b.lanes[0].old_value, 0U);
  EXPECT_EQ(b.lanes[1].old_value, 7U);
  EXPECT_EQ(b.lanes[2].old_value, 7U);
}

TEST(PcieCore, TheWayOfEachAtomic) {
  using O = AtomicOperation;
  using T = DataType;
  const PcieCore core(link());
  for (const AtomicForm& form : atomic_forms()) {
    AtomicBlock b = block(form.operation, form.type, {{0, 1, 0}});
    b.vector = static_cast<std::uint8_t>(form.vector);
    const bool integer = !is_float(form.type);
    const unsigned size = size_of(form.type);
    const bool has_one = (form.operation == O::add && integer) ||
                         (form.operation == O::exchange && (size == 4 || size == 8)) ||
                         (form.operation == O::compare_and_swap && size >= 4);
    EXPECT_EQ(core.way_of(b), has_one ? PcieAtomicWay::atomic_op : PcieAtomicWay::compare_and_swap)
        << name_of(form.type) << " v" << form.vector;
  }
  expect_train(core.atomic_request(block(O::compare_and_swap, T::b128, {{0, 1, 0}})), 1, 32, 4);
  expect_train(core.atomic_completion(block(O::compare_and_swap, T::b128, {{0, 1, 0}})), 1, 16, 3);
}

TEST(PcieSwap, ALoopDoesWhatAnAtomicDoesWhoeverElseWrites) {
  Random random(4);
  for (unsigned n = 0; n < 3000; ++n) {
    std::array<std::uint8_t, kLineBytes> line{};
    AtomicBlock b = random_atomic_block(random);
    if (PcieCore(link()).way_of(b) != PcieAtomicWay::compare_and_swap) continue;
    PcieSwap swap(b);
    const unsigned bytes = swap.word_bytes();
    // One word changes between look and swap: what its lanes do, they do to the new value.
    const auto disturbed = static_cast<unsigned>(random.below(kLineBytes / bytes));
    swap.see(line.data());
    swap.want(b);
    std::array<std::uint8_t, kLineBytes> naive{};
    for (unsigned at = disturbed * bytes; at < (disturbed + 1) * bytes; ++at)
      naive[at] = line[at] = static_cast<std::uint8_t>(random.next() | 1U);
    const bool hit = swap.is_left(disturbed);
    ASSERT_EQ(swap.try_swap(line.data()), hit) << n;
    if (hit) {
      swap.want(b);
      ASSERT_FALSE(swap.try_swap(line.data())) << n;
    }
    const AtomicBlock asked = b;
    for (unsigned i = 0; i < b.count; ++i)
      ASSERT_EQ(old_bytes(b, i), naive_lane(asked, i, naive.data())) << n << " " << name_of(b.type);
    ASSERT_EQ(line, naive) << n << " " << name_of(b.type);
  }
}

TEST(PcieParameters, EveryFaultAtOnce) {
  PcieParameters p;
  EXPECT_TRUE(p.problems("pcie").empty());
  p.latency = 0;
  p.max_payload = 16;
  p.tags = 0;
  EXPECT_EQ(p.problems("pcie").size(), 3U);
}

}  // namespace pcie_core_test
}  // namespace warpline
