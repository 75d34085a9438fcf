#include <gtest/gtest.h>

#include <map>

#include "rtl_models/sim/wait_graph.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_ordering_test {

const DataType kU32 = DataType::u32;
Step load(std::uint64_t at, std::vector<std::uint16_t> to = {}) {
  return memory(MemKind::load, Space::global, kU32, strided(at, 4), std::move(to));
}
Step store(std::uint64_t at) {
  return memory(MemKind::store, Space::global, kU32, strided(at, 4));
}

/// What the LSU sent to L1, in order: r read, w write, d drain, b write-back of system memory,
/// x discard of it, i invalidation, s of surface lines.
std::string sent(const SmBench& bench) {
  std::string s;
  for (const FlatMemory::Seen& m : bench.l1.seen) {
    if (!s.empty()) s += ' ';
    if (m.command == Command::read) s += 'r';
    if (m.command == Command::write) s += 'w';
    if (m.command == Command::atomic) s += 'a';
    if (m.command != Command::maintain) continue;
    if ((m.maintenance & maintenance::kDrain) != 0) s += 'd';
    if ((m.maintenance & maintenance::kWriteBackSysmem) != 0) s += 'b';
    if ((m.maintenance & maintenance::kDiscardSysmem) != 0) s += 'x';
    if ((m.maintenance & maintenance::kInvalidate) != 0) s += 'i';
    if ((m.maintenance & maintenance::kInvalidateSurfaces) != 0) s += 's';
  }
  return s;
}

/// Each message is taken by L1 after everything before it has been answered.
void expect_one_after_the_other(const SmBench& bench) {
  for (std::size_t k = 1; k < bench.l1.seen.size(); ++k)
    EXPECT_GT(bench.l1.seen[k].at, bench.l1.seen[k - 1].answered) << "message " << k << " of " << sent(bench);
}

struct Sequence {
  const char* what;
  std::vector<Step> steps;
  const char* sends;
};

TEST(SmOrdering, OrderedAccessesSendWhatTheyMustInOrder) {
  Step atomic = memory(MemKind::atomic, Space::global, kU32, strided(0x1000, 4, 1), {1});
  atomic.instruction.mem.atomic = AtomicOperation::add;
  const auto scoped = [&](Scope scope) {
    return std::vector<Sequence>{
        {"st.release",
         {store(0x1000), ordered(store(0x1080), Semantics::release, scope), store(0x1100)},
         "release"},
        {"ld.acquire", {ordered(load(0x1000, {1}), Semantics::acquire, scope), load(0x1080, {2})}, "acquire"},
        {"fence.acq_rel", {store(0x1000), fence(Semantics::acq_rel, scope), load(0x1080, {2})}, "fence"},
        {"fence.sc", {load(0x1000, {1}), fence(Semantics::sc, scope), load(0x1080, {2})}, "fence of a load"},
        {"atom.acq_rel",
         {store(0x1000), ordered(atomic, Semantics::acq_rel, scope), load(0x1080, {2})},
         "atomic"},
    };
  };
  const std::map<Scope, std::vector<std::string>> expected = {
      {Scope::cta, {"w w w", "r r", "w r", "r r", "w a r"}},
      {Scope::cluster, {"w d w w", "r i r", "w di r", "r di r", "w d a i r"}},
      {Scope::gpu, {"w d w w", "r i r", "w di r", "r di r", "w d a i r"}},
      {Scope::sys, {"w db w w", "r xi r", "w dbxi r", "r dbxi r", "w db a xi r"}},
  };
  for (const auto& [scope, sends] : expected) {
    const std::vector<Sequence> all = scoped(scope);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(std::string(all[k].what) + " scope " + std::to_string(static_cast<int>(scope)));
      SmBench bench({all[k].steps}, SmBench::fixed(50));
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      EXPECT_EQ(sent(bench), sends[k]);
      if (k == 0) {
        bench.l1.seen.pop_back();  // nothing holds up the store after a release
      }
      expect_one_after_the_other(bench);
    }
  }
}

Step proxy_fence(Proxy proxy) {
  Step s = fence(Semantics::weak, Scope::none);
  s.instruction.mem.kind = MemKind::proxy_fence;
  s.instruction.mem.proxy = proxy;
  return s;
}

/// A proxy fence waits for the thread's loads and the SM's stores at L2, and only then has the cache of its
/// proxy invalidated; what follows it waits for all of that (R8).
TEST(SmOrdering, AProxyFenceDrainsThenInvalidatesTheCacheOfItsProxy) {
  struct Row {
    Proxy proxy;
    const char* to_l1;
    FlatMemory SmBench::*also;  ///< the cache that is invalidated apart from L1
  };
  for (const Row& row :
       {Row{Proxy::alias, "w di r", nullptr}, Row{Proxy::surface, "w dis r", nullptr},
        Row{Proxy::texture, "w d r", &SmBench::texture}, Row{Proxy::constant, "w d r", &SmBench::constant},
        Row{Proxy::async, "w di r", nullptr}}) {
    SmBench bench({{store(0x1000), proxy_fence(row.proxy), load(0x1080, {1})}}, SmBench::fixed(50));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(sent(bench), row.to_l1) << static_cast<int>(row.proxy);
    expect_one_after_the_other(bench);
    for (FlatMemory SmBench::*const cache : {&SmBench::texture, &SmBench::constant}) {
      const std::vector<FlatMemory::Seen>& seen = (bench.*cache).seen;
      ASSERT_EQ(seen.size(), cache == row.also ? 1U : 0U) << static_cast<int>(row.proxy);
      if (seen.empty()) continue;
      EXPECT_EQ(seen[0].maintenance, maintenance::kInvalidate);
      EXPECT_GT(seen[0].at, bench.l1.seen[1].answered) << "stores are at L2 first";
      EXPECT_GT(bench.l1.seen[2].at, seen[0].answered);
    }
  }
}

std::map<std::string, std::uint64_t> ordering_cycles(const SmBench& bench) {
  std::map<std::string, std::uint64_t> out;
  bench.sm.counters().ordering.visit([&](const std::string& name, std::uint64_t n, const char*, const char*) {
    if (n != 0) out[name.substr(std::string("ordering_cycles_").size())] = n;
  });
  return out;
}

TEST(SmOrdering, CyclesOfAFenceAreCountedByItsScope) {
  const Step other = load(0x1800, {3});
  for (const Scope scope : {Scope::cluster, Scope::gpu, Scope::sys}) {
    // The drain, and the way of the store to L1: what the fence makes the next load wait longer.
    const auto issued = [&](const std::vector<Step>& steps, std::map<std::string, std::uint64_t>& cycles) {
      SmBench bench(std::vector<std::vector<Step>>{steps});
      EXPECT_EQ(bench.run(), RunOutcome::quiescent);
      cycles = ordering_cycles(bench);
      return bench.l1.seen.back().at;
    };
    std::map<std::string, std::uint64_t> none, fenced;
    const Cycle before = issued({store(0x1000), other}, none);
    const Cycle after = issued({store(0x1000), fence(Semantics::acq_rel, scope), other}, fenced);
    EXPECT_TRUE(none.empty());
    ASSERT_EQ(fenced.size(), 1U);
    const char* const names[] = {"", "", "cluster", "gpu", "sys"};
    EXPECT_EQ(fenced.begin()->first, names[static_cast<std::size_t>(scope)]);
    // Beside them the fence takes a turn of issue of its own.
    EXPECT_NEAR(static_cast<double>(fenced.begin()->second), static_cast<double>(after - before), 4);
    EXPECT_GT(fenced.begin()->second, 10U);
  }
}

TEST(SmOrdering, WhatHasNothingToWaitForCostsNothing) {
  SmBench bench(std::vector<std::vector<Step>>{
      {fence(Semantics::acq_rel, Scope::cta), ordered(store(0x1000), Semantics::release, Scope::cta)}});
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_TRUE(ordering_cycles(bench).empty());
}

TEST(SmOrdering, WeakLoadsAndStoresOverlap) {
  SmBench bench({{load(0x1000, {1}), store(0x1080), load(0x1100, {2}), store(0x1180)}}, SmBench::fixed(200));
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(sent(bench), "r w r w");
  for (const FlatMemory::Seen& m : bench.l1.seen) EXPECT_LT(m.at, bench.l1.seen[0].answered);
}

TEST(SmOrdering, ABarrierTakesEffectOnceLoadsHaveReturnedAndStoresHavePassedL1) {
  for (const bool waits : {true, false}) {
    for (const Step& before : {load(0x1000, {1}), store(0x1000)}) {
      SmBench bench({{before, barrier({1, 64, waits}), alu(1)}, {barrier({1, 64, true}), alu(1)}},
                    SmBench::fixed(300));
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      const Cycle answered = bench.l1.seen.at(0).answered;
      EXPECT_GT(bench.log.edge_of(0, 1), answered);
      EXPECT_GT(bench.log.edge_of(1, 1), answered) << "the other warp goes on only then";
      EXPECT_LT(bench.log.edge_of(1, 0), answered);
    }
  }
}

TEST(SmOrdering, AnExitCompletesABarrierWhateverTheWarpsLastInstructionIs) {
  for (const Step& last : {alu(1), store(0x1000)}) {
    SmBench bench({{barrier({0, 0, true}), alu(1)}, {alu(50, {}, {1}), alu(1, {1}), last}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_GT(bench.log.edge_of(0, 1), bench.log.edge_of(1, 2));
  }
}

TEST(SmOrdering, AnExitCompletesABarrierThoughItIsTheWarpsFirstInstructionSince) {
  // Warp 1 issues nothing between the barrier's first use and its own end.
  SmBench bench(
      {{alu(20, {}, {1}), alu(1, {1}), barrier({0, 0, true}), alu(1)}, {alu(100, {}, {1}), alu(1, {1})}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_GT(bench.log.edge_of(0, 3), bench.log.edge_of(1, 1));
}

TEST(SmOrdering, ABarrierIsOfItsOwnCtaWhoeverHasTheSlotsOfItsWarps) {
  // Warp 1 ends at once, so that the second CTA's warp 0 gets its slot; both wait there.
  SmBench bench({{alu(50, {}, {1}), alu(1, {1}), barrier({0, 0, true}), alu(1)}, {alu(1)}});
  ASSERT_EQ(bench.run(2, 0, 2), RunOutcome::quiescent);
  EXPECT_NE(bench.log.edge_of(1, 3), ~std::uint64_t{0}) << "slot 1 was used by the second CTA";
}

TEST(SmOrdering, AReleaseDrainsForItselfAlone) {
  // Both warps release: each sends a drain of its own, since the other's writes may have come since.
  const Step release = ordered(store(0x1080), Semantics::release, Scope::gpu);
  SmBench bench({{store(0x1000), release, release}, {store(0x1100), release}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  unsigned drains = 0;
  for (const FlatMemory::Seen& m : bench.l1.seen) drains += m.maintenance == maintenance::kDrain;
  EXPECT_EQ(drains, 3U);
}

TEST(SmOrdering, AnAcquireFlagInSharedMemoryInvalidatesToo) {
  const Step flag =
      ordered(memory(MemKind::load, Space::shared, kU32, strided(0, 4), {1}), Semantics::acquire, Scope::gpu);
  SmBench bench({{flag, load(0x1000, {2})}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(sent(bench), "i r");
  expect_one_after_the_other(bench);
}

TEST(SmDeadlock, SaysWhoWaitsForWhat) {
  SmBench bench({{barrier({3, 96, true})}, {load(0x1000, {1}), barrier({3, 96, true}), alu(1)}});
  ASSERT_EQ(bench.run(), RunOutcome::deadlock);
  std::string text;
  for (const Wait& w : bench.engine.explain()) text += w.who + " -> " + w.what + "\n";
  for (const char* part :
       {"sm[0] warp 0 -> barrier 3, which 32 of 96 threads have not reached (CTA 0,0,0); no other warp is "
        "left",
        "sm[0] warp 1 -> barrier 3, which 32 of 96", "distributor -> 1 of 1 CTAs to finish"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  const Standstill s = bench.engine.standstill();
  EXPECT_TRUE(circle_of(s).empty());
  for (const Wait& end : ends_of(s)) EXPECT_EQ(end.who.rfind("sm[0] warp", 0), 0U) << end.who;
}

TEST(SmDeadlock, WarpsThatWaitForEachOtherAreACircle) {
  SmBench bench({{barrier({3, 0, true})}, {load(0x1000, {1}), barrier({4, 0, true}), alu(1)}});
  ASSERT_EQ(bench.run(), RunOutcome::deadlock);
  EXPECT_EQ(to_text(circle_of(bench.engine.standstill())), "sm[0] warp 0 -> sm[0] warp 1 -> sm[0] warp 0");
}

}  // namespace sm_ordering_test
}  // namespace warpline::test
