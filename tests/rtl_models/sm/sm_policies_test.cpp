// What the load/store unit makes of cache policies.
#include <gtest/gtest.h>

#include "rtl_models/isa/cache_policy.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_policies_test {

using P = EvictionPriority;

constexpr std::uint64_t kLast = 0x14F0000000000000U, kFirst = 0x12F0000000000000U;

/// An access of 4 bytes by each lane, lane n's with policy `policy(n)`.
Step hinted(
    MemKind kind, std::uint64_t base, std::int64_t stride,
    const std::function<std::uint64_t(unsigned)>& policy,
    const std::function<void(MemOp&)>& change = [](MemOp&) {}, LaneMask active = ~LaneMask{0}) {
  Step s = memory(kind, Space::global, kind == MemKind::reduction ? DataType::u32 : DataType::b32,
                  [=](MemoryAccess& a) {
                    strided(base, stride, active)(a);
                    for (unsigned n = 0; n < kWarpLanes; ++n) a.policy[n] = policy(n);
                  });
  s.instruction.mem.cache_hint = true;
  if (kind == MemKind::reduction) s.instruction.mem.atomic = AtomicOperation::add;
  change(s.instruction.mem);
  return s;
}

struct Ran {
  std::vector<FlatMemory::Seen> seen;
  std::uint64_t malformed = 0;
};

Ran run(const Step& step) {
  SmBench bench({{step}});
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  return {step.instruction.mem.is_noncoherent ? bench.texture.seen : bench.l1.seen,
          bench.sm.lsu_counters().malformed_policies};
}

TEST(SmPolicies, ReachL2WithEveryKindOfAccess) {
  const auto last = [](unsigned) { return kLast; };
  for (const MemKind kind : {MemKind::load, MemKind::store, MemKind::reduction})
    EXPECT_EQ(run(hinted(kind, 0x1000, 4, last)).seen.at(0).l2_priority, P::last);
  const Ran texture = run(hinted(MemKind::load, 0x1000, 4, last, [](MemOp& m) { m.is_noncoherent = true; }));
  EXPECT_EQ(texture.seen.at(0).l2_priority, P::last);
  EXPECT_EQ(texture.malformed, 0U);
  const Ran without = run(hinted(MemKind::load, 0x1000, 4, last, [](MemOp& m) { m.cache_hint = false; }));
  EXPECT_EQ(without.seen.at(0).l2_priority, P::none) << "the buffer is not looked at";
}

/// A grid's boundary, a fence of the texture proxy and reads of `.nc` concern L1 where it is the cache of
/// all.
TEST(SmPolicies, NoncoherentLoadsGoToL1WhereItServesThem) {
  const auto last = [](unsigned) { return kLast; };
  const Step nc = hinted(MemKind::load, 0x1000, 4, last, [](MemOp& m) { m.is_noncoherent = true; });
  const Step weak = hinted(MemKind::load, 0x1000, 4, last);
  Step proxy = fence(Semantics::weak, Scope::none);
  proxy.instruction.mem.kind = MemKind::proxy_fence;
  proxy.instruction.mem.proxy = Proxy::texture;
  SmParameters p;
  p.unified_l1 = true;
  SmBench bench({{nc, weak, proxy, nc}}, SmBench::fixed(20), p);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_TRUE(bench.texture.seen.empty());
  std::vector<Reader> readers;
  unsigned invalidations = 0;
  for (const FlatMemory::Seen& s : bench.l1.seen) {
    if (s.command == Command::read) readers.push_back(s.reader);
    invalidations += (s.maintenance & maintenance::kInvalidate) != 0;
  }
  EXPECT_EQ(readers, (std::vector{Reader::noncoherent, Reader::load, Reader::noncoherent}));
  EXPECT_EQ(invalidations, 1U);
  EXPECT_EQ(bench.l1.seen.at(0).l2_priority, P::last);
  EXPECT_EQ(bench.sm.lsu_counters().texture_sectors, 8U);
  EXPECT_EQ(bench.sm.lsu_counters().l1_lg_sectors, 12U);
}

TEST(SmPolicies, EachLineTakesThatOfItsLowestLane) {
  // Lanes 0 to 7 share a line, and so on; lanes 0 and 8 do not take part.
  const auto policy = [](unsigned lane) { return lane == 1 || lane == 16 ? kLast : kFirst; };
  const Ran ran = run(hinted(
      MemKind::load, 0x1000, 16, policy, [](MemOp&) {}, 0xFFFFFEFEU));
  ASSERT_EQ(ran.seen.size(), 4U);
  EXPECT_EQ(ran.seen[0].l2_priority, P::last);
  EXPECT_EQ(ran.seen[1].l2_priority, P::first);
  EXPECT_EQ(ran.seen[2].l2_priority, P::last);
  EXPECT_EQ(ran.seen[3].l2_priority, P::first);
}

TEST(SmPolicies, ApplyAtTheLinesVirtualAddress) {
  // The range's blocks are 4 KiB; 0x10000000 lies in physical block 0x10, the range in virtual ones.
  const std::uint64_t range = range_policy(L2Eviction::last, L2Eviction::first, 0x10001000, 4096, 8192);
  const auto policy = [range](unsigned) { return range; };
  for (const auto& [address, priority] : std::vector<std::pair<std::uint64_t, P>>{
           {0x10000F80, P::first}, {0x10001000, P::last}, {0x10001FFC, P::last}, {0x10002000, P::first}})
    EXPECT_EQ(run(hinted(MemKind::load, address, 0, policy)).seen.at(0).l2_priority, priority)
        << std::hex << address;
  const std::uint64_t half = fractional_policy(L2Eviction::last, L2Eviction::first, 0.5F);
  unsigned primary = 0;
  for (std::uint64_t line = 0; line < 16; ++line) {
    const Ran ran =
        run(hinted(MemKind::load, 0x10000000 + line * kLineBytes, 0, [half](unsigned) { return half; }));
    primary += ran.seen.at(0).l2_priority == P::last ? 1 : 0;
  }
  EXPECT_EQ(primary, 8U);
}

TEST(SmPolicies, WhatThePolicyNamesGoesBeforeQualifiers) {
  const auto first = [](unsigned) { return kFirst; };
  const auto none = [](unsigned) { return std::uint64_t{0}; };
  const auto last_at_both = [](MemOp& m) {
    m.l1_eviction = L1Eviction::last;
    m.l2_eviction = L2Eviction::last;
  };
  const auto streaming = [](MemOp& m) { m.cache_operator = CacheOperator::cs; };
  const FlatMemory::Seen both = run(hinted(MemKind::load, 0x1000, 4, first, last_at_both)).seen.at(0);
  EXPECT_EQ(both.l2_priority, P::first);
  EXPECT_EQ(both.l1_priority, P::last) << "the policy says nothing of L1";
  EXPECT_EQ(run(hinted(MemKind::load, 0x1000, 4, none, last_at_both)).seen.at(0).l2_priority, P::last)
      << "an implicit policy names nothing";
  EXPECT_EQ(run(hinted(
                    MemKind::load, 0x1000, 4, [](unsigned) { return kLast; }, streaming))
                .seen.at(0)
                .l2_priority,
            P::last);
}

TEST(SmPolicies, Bits61And62SkipL1AndFetch256Bytes) {
  const auto with = [](std::uint64_t bits) { return [bits](unsigned) { return kLast | bits; }; };
  const FlatMemory::Seen skips = run(hinted(MemKind::load, 0x1000, 4, with(1ULL << 61U))).seen.at(0);
  EXPECT_EQ(skips.l1_priority, P::no_allocate);
  EXPECT_EQ(skips.l2_priority, P::last);
  EXPECT_EQ(skips.prefetch, 0);
  const FlatMemory::Seen promotes = run(hinted(MemKind::load, 0x1000, 4, with(1ULL << 62U))).seen.at(0);
  EXPECT_EQ(promotes.l1_priority, P::none);
  EXPECT_EQ(promotes.prefetch, 0xFF);
  const auto sized = [](MemOp& m) { m.prefetch_bytes = 64; };
  EXPECT_EQ(run(hinted(MemKind::load, 0x1000, 0, with(1ULL << 62U), sized)).seen.at(0).prefetch, 0xFF);
  EXPECT_EQ(run(hinted(MemKind::load, 0x1000, 0, with(0), sized)).seen.at(0).prefetch, 0x3);
  EXPECT_EQ(run(hinted(MemKind::store, 0x1000, 0, with(1ULL << 62U))).seen.at(0).prefetch, 0);
}

TEST(SmPolicies, MalformedOnesAreNormalAndCountedByLine) {
  const auto broken = [](unsigned) { return kLast | 1; };
  const Ran ran =
      run(hinted(MemKind::load, 0x1000, 16, broken, [](MemOp& m) { m.l2_eviction = L2Eviction::last; }));
  ASSERT_EQ(ran.seen.size(), 4U);
  for (const FlatMemory::Seen& s : ran.seen) EXPECT_EQ(s.l2_priority, P::normal);
  EXPECT_EQ(ran.malformed, 4U);
}

}  // namespace sm_policies_test
}  // namespace warpline::test
