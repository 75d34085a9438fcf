// What the load/store unit tells the caches about replacement, last use and prefetch sizes.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_hints_test {

Step load(Space space, std::uint64_t base, std::int64_t stride, const std::function<void(MemOp&)>& change,
          LaneMask active = ~LaneMask{0}) {
  Step s = memory(MemKind::load, space, DataType::b32, strided(base, stride, active));
  change(s.instruction.mem);
  return s;
}

/// The first request that reaches L1 when one instruction runs.
FlatMemory::Seen first_request(const Step& step) {
  SmBench bench({{step}});
  bench.space.map({0x3000, 300, physical(Aperture::vidmem, 0x9000), 0});
  bench.space.map({0x4000, 0x100, physical(Aperture::sysmem, 0x9000), 0});
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  const std::vector<FlatMemory::Seen>& seen =
      step.instruction.mem.is_noncoherent ? bench.texture.seen : bench.l1.seen;
  EXPECT_FALSE(seen.empty());
  return seen.empty() ? FlatMemory::Seen{} : seen.front();
}

TEST(SmHints, EvictionPrioritiesReachTheCachesTheyAreFor) {
  using P = EvictionPriority;
  struct Row {
    L1Eviction l1;
    L2Eviction l2;
    CacheOperator op;
    P at_l1, at_l2;
  };
  constexpr auto kNoOp = CacheOperator::none;
  for (const Row& row : {Row{L1Eviction::none, L2Eviction::none, kNoOp, P::none, P::none},
                         Row{L1Eviction::normal, L2Eviction::normal, kNoOp, P::normal, P::normal},
                         Row{L1Eviction::unchanged, L2Eviction::unchanged, kNoOp, P::unchanged, P::unchanged},
                         Row{L1Eviction::first, L2Eviction::last, kNoOp, P::first, P::last},
                         Row{L1Eviction::last, L2Eviction::first, kNoOp, P::last, P::first},
                         Row{L1Eviction::no_allocate, L2Eviction::none, kNoOp, P::no_allocate, P::none},
                         Row{L1Eviction::none, L2Eviction::none, CacheOperator::ca, P::none, P::none},
                         Row{L1Eviction::none, L2Eviction::none, CacheOperator::cs, P::first, P::first},
                         Row{L1Eviction::none, L2Eviction::none, CacheOperator::lu, P::first, P::first}}) {
    for (const bool noncoherent : {false, true}) {
      const FlatMemory::Seen r = first_request(load(Space::global, 0x1000, 4, [&](MemOp& m) {
        m.l1_eviction = row.l1;
        m.l2_eviction = row.l2;
        m.cache_operator = row.op;
        m.is_noncoherent = noncoherent;
      }));
      EXPECT_EQ(r.l1_priority, row.at_l1);
      EXPECT_EQ(r.l2_priority, row.at_l2);
      EXPECT_FALSE(r.last_use) << "global lines are written through";
    }
  }
}

TEST(SmHints, OnlyLoadsOfLocalMemoryAreTheLastUseOfALine) {
  for (const CacheOperator op :
       {CacheOperator::none, CacheOperator::ca, CacheOperator::cs, CacheOperator::lu}) {
    const bool last = op == CacheOperator::cs || op == CacheOperator::lu;
    const auto with_op = [op](MemOp& m) { m.cache_operator = op; };
    EXPECT_EQ(first_request(load(Space::local, 0, 0, with_op)).last_use, last);
    EXPECT_EQ(first_request(load(Space::generic, AddressWindows::kLocalBase, 0, with_op)).last_use, last);
    Step store = load(Space::local, 0, 0, with_op);
    store.instruction.mem.kind = MemKind::store;
    EXPECT_FALSE(first_request(store).last_use);
  }
}

TEST(SmHints, APrefetchSizeAsksForTheAlignedBlockAsFarAsItIsMapped) {
  struct Row {
    std::uint64_t address;
    std::uint16_t bytes;
    SectorMask prefetch;
  };
  for (const Row& row : {Row{0x1000, 0, 0}, Row{0x1020, 64, 0x3}, Row{0x1040, 64, 0xC}, Row{0x1000, 128, 0xF},
                         Row{0x1000, 256, 0xFF}, Row{0x1080, 256, 0xFF}, Row{0x1F80, 256, 0xFF},
                         // 300 bytes are mapped here: two lines, and two sectors of a third.
                         Row{0x3000, 256, 0xFF}, Row{0x3100, 256, 0x3}, Row{0x3100, 128, 0x3},
                         // System memory lies behind a bus.
                         Row{0x4000, 256, 0}}) {
    const auto sized = [&row](MemOp& m) { m.prefetch_bytes = row.bytes; };
    EXPECT_EQ(first_request(load(Space::global, row.address, 0, sized)).prefetch, row.prefetch)
        << std::hex << row.address << ", " << std::dec << row.bytes << " bytes";
    Step store = load(Space::global, row.address, 0, sized);
    store.instruction.mem.kind = MemKind::store;
    EXPECT_EQ(first_request(store).prefetch, 0);
  }
}

}  // namespace sm_hints_test
}  // namespace warpline::test
