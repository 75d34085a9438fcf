// A peer's memory at the far end of the link, and reads of no byte (R11).
#include <gtest/gtest.h>

#include "tests/rtl_models/pcie/gpu_link/bench_of_pcie.h"

namespace warpline::test {
namespace pcie_peer_test {

constexpr unsigned kLatency = 20, kFarther = 30;

PhysicalAddress peer(std::uint64_t offset) {
  return physical(Aperture::peer, offset);
}
Item flush_of(Cycle at, PhysicalAddress line) {
  return read_item(at, line, 0);
}
Item exact_read(Cycle at, PhysicalAddress line, unsigned offset, unsigned count) {
  Item item = read_item(at, line, sectors_of(offset, count));
  item.request.exact = true;
  item.request.bytes.set(offset, count);
  return item;
}

/// A requester on a link to 64 KiB of each memory, and all that arrives at the peer's bus.
struct Bench {
  explicit Bench(const std::vector<Item>& items, bool atomic_ops = true)
      : memory(65536),
        device(65536),
        link(engine, "pcie", ClockDomain{}, parameters(atomic_ops), &memory, 1, &device),
        l2(engine, "l2", ClockDomain{}, items) {
    connect(l2.out, link.from_l2(0), PcieBench::kChannel);
    connect(link.to_l2(0), l2.in, PcieBench::kChannel);
    device.watch([this](const BusAccess& access) { seen.push_back(access); });
  }
  static PcieParameters parameters(bool atomic_ops) {
    PcieParameters p;
    p.latency = kLatency;
    p.peer_latency = kFarther;
    p.atomic_ops = atomic_ops;
    return p;
  }
  void run() { ASSERT_EQ(engine.run_until(100000), RunOutcome::quiescent); }
  Engine engine;
  MemoryImage memory;
  MemoryDevice device;
  PcieLink link;
  Requester l2;
  std::vector<BusAccess> seen;
};

TEST(PciePeer, IsFartherAwayBothWays) {
  Bench bench({read_item(50, peer(0), 0x3)});
  bench.device.image().at(0)[9] = 77;
  bench.run();
  EXPECT_EQ(bench.l2.answers[0].answered,
            50U + 1 + bench.link.core().idle_read_cycles(0x3) + 2 * kFarther + 1);
  EXPECT_EQ(bench.l2.answers[0].data[9], 77U);
  ASSERT_EQ(bench.seen.size(), 1U);
  EXPECT_EQ(bench.seen[0].cycle, 51U + 2 + kLatency + kFarther);
  EXPECT_EQ(bench.seen[0].bytes, 64U);
  EXPECT_EQ(bench.link.counters().peer_requests, 1U);
}

TEST(PciePeer, WritesToTwoMemoriesHaveNoOrder) {
  Bench bench({write_item(0, peer(0), bytes(0, 4), 1), write_item(0, sys(0), bytes(0, 4), 1)});
  ASSERT_EQ(bench.engine.run_until(1 + 4 + kLatency), RunOutcome::cycle_limit);
  EXPECT_EQ(*bench.memory.at(0), 1U);
  EXPECT_EQ(*bench.device.image().at(0), 0U);
  bench.run();
  EXPECT_EQ(*bench.device.image().at(0), 1U);
}

TEST(PciePeer, AFlushComesBackAfterTheWritesBeforeItHaveArrived) {
  Bench bench({write_item(0, peer(128), bytes(0, 4), 1), flush_of(0, peer(128)), flush_of(0, sys(0))});
  bench.run();
  ASSERT_EQ(bench.seen.size(), 2U);
  EXPECT_EQ(bench.seen[0].kind, AccessKind::write);
  EXPECT_EQ(bench.seen[1].kind, AccessKind::flush);
  EXPECT_EQ(bench.seen[1].bytes, 0U);
  EXPECT_GT(bench.seen[1].cycle, bench.seen[0].cycle);
  // Written from 1 to 3, flushed from 3 to 5, and from 5 to 7; a completion takes two cycles.
  EXPECT_EQ(bench.l2.answers[1].answered, 5U + 2 * (kLatency + kFarther) + 2 + 1);
  EXPECT_EQ(bench.l2.answers[2].answered, 7U + 2 * kLatency + 2 + 1);
  EXPECT_EQ(bench.link.counters().flushes, 2U);
  EXPECT_EQ(bench.link.counters().bytes_down, 0U);
}

TEST(PciePeer, TheBusShowsEveryAccessAsItIs) {
  AtomicBlock two = lanes_at(AtomicOperation::add, DataType::u32, 2, 8, 5);
  two.lanes[1].offset = 16;
  ByteMask holes = bytes(0, 3);
  holes.set(64, 8);
  std::vector<Item> items = {exact_read(0, peer(256), 6, 2), write_item(0, peer(256), holes, 9),
                             atomic_item(0, peer(256), two)};
  items[1].request.gpu = 1;
  items[1].request.sm = 3;
  items[1].request.warp = 4;
  Bench bench(items);
  bench.run();
  ASSERT_EQ(bench.seen.size(), 5U);
  using Kind = AccessKind;
  const struct {
    Kind kind;
    bool exact;
    std::uint64_t offset;
    unsigned bytes;
    unsigned first;
  } wanted[] = {{Kind::read, true, 262, 2, 0},
                {Kind::write, false, 256, 3, 9},
                {Kind::write, false, 320, 8, 9},
                {Kind::atomic, false, 264, 4, 5},
                {Kind::atomic, false, 272, 4, 5}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.seen[i].kind, wanted[i].kind) << i;
    EXPECT_EQ(bench.seen[i].exact, wanted[i].exact) << i;
    EXPECT_EQ(bench.seen[i].offset, wanted[i].offset) << i;
    EXPECT_EQ(bench.seen[i].bytes, wanted[i].bytes) << i;
    EXPECT_EQ(bench.seen[i].value & 0xFF, wanted[i].first) << i;
  }
  EXPECT_EQ(bench.seen[2].requester, 1U);
  EXPECT_EQ(bench.seen[2].sm, 3U);
  EXPECT_EQ(bench.seen[2].warp, 4U);
}

TEST(PciePeer, AtomicsOfSeveralRoundTripsShowAllOfThem) {
  const Item wraps = atomic_item(0, peer(0), lanes_at(AtomicOperation::increment, DataType::u32, 1, 4, 100));
  for (const bool atomic_ops : {true, false}) {
    Bench bench({wraps}, atomic_ops);
    bench.run();
    ASSERT_EQ(bench.seen.size(), 2U);
    EXPECT_EQ(bench.seen[0].kind, AccessKind::read);
    EXPECT_EQ(bench.seen[1].kind, atomic_ops ? AccessKind::atomic : AccessKind::write);
    for (const BusAccess& access : bench.seen) {
      EXPECT_EQ(access.offset, 4U);
      EXPECT_EQ(access.bytes, 4U);
    }
    EXPECT_EQ(bench.device.image().at(4)[0], 1U);
  }
}

TEST(PciePeer, BeyondItsEndIsAnError) {
  Bench bench({read_item(0, peer(65536), 1), write_item(0, peer(1U << 20U), bytes(0, 4), 1)});
  bench.run();
  EXPECT_EQ(bench.l2.answers[0].status, Status::address_error);
  EXPECT_EQ(bench.l2.answers[1].status, Status::address_error);
  EXPECT_TRUE(bench.seen.empty());
  PcieBench without(Bench::parameters(true), {{read_item(0, peer(0), 1)}});
  ASSERT_EQ(without.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_EQ(without.l2[0]->answers[0].status, Status::address_error) << "there is no peer";
}

}  // namespace pcie_peer_test
}  // namespace warpline::test
