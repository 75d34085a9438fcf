#include "rtl_models/sm/sm_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/scoreboard.h"
#include "rtl_models/sm/warp_scheduler.h"
#include "tests/rtl_models/sm/call_script.h"

namespace warpline::test {
namespace sm_core_test {

/// A core with one CTA of two warps, which run `scripts`.
struct CoreBench {
  explicit CoreBench(std::vector<CallSource::Script> the_scripts) : scripts(std::move(the_scripts)) {
    KernelInfo info;
    info.block = {static_cast<unsigned>(scripts.size()) * kWarpLanes, 1, 1};
    info.shared_bytes = 256;
    info.local_bytes = 64;
    info.calls = true;
    MemoryMap map;
    map.local_bytes = info.local_window_bytes(parameters);
    core.start(info, std::make_unique<CallSource>(scripts, log), map, 2);
    core.begin_cta({0, 0, 0});
  }
  void execute(unsigned slot) {
    Issue issue;
    ASSERT_NE(core.next(slot), nullptr);
    core.execute(slot, issue);
  }
  SmParameters parameters;
  SmCounters counters;
  SmCore core{parameters, counters};
  std::vector<CallSource::Script> scripts;
  CallSource::Log log;
  std::vector<SmCore::Released> released;
};

Instruction memory_op(MemKind kind, Semantics semantics = Semantics::weak, Scope scope = Scope::none) {
  Instruction i;
  i.kind = InstructionKind::memory;
  i.mem.kind = kind;
  i.mem.semantics = semantics;
  i.mem.scope = scope;
  return i;
}

TEST(SmCore, ACtaEndsWithItsLastWarp) {
  CoreBench b({repeated(InstructionKind::alu, 1), repeated(InstructionKind::alu, 1)});
  EXPECT_EQ(b.core.active_warps(), 2U);
  EXPECT_EQ(b.core.limits(0).shared_bytes, 256U);
  EXPECT_EQ(b.core.limits(0).local_bytes, 64U) << "the stack's part is not the program's";
  for (const unsigned slot : {0U, 1U}) {
    EXPECT_FALSE(b.core.may_end(slot));
    b.execute(slot);
    EXPECT_TRUE(b.core.may_end(slot));
    EXPECT_EQ(b.core.next(slot), nullptr);
    EXPECT_EQ(b.core.end_warp(slot), slot == 1);
  }
  EXPECT_EQ(b.counters.ctas, 1U);
  EXPECT_EQ(b.core.begin_cta({1, 0, 0}).slots, (std::vector<unsigned>{0, 1})) << "the slots are free again";
}

TEST(SmCore, AReleaseWaitsForWhatItsWarpHasInFlight) {
  CoreBench b({repeated(InstructionKind::alu, 2)});
  const Instruction load = memory_op(MemKind::load), store = memory_op(MemKind::store);
  const Instruction release = memory_op(MemKind::store, Semantics::release, Scope::gpu);
  MemoryAccess access;
  EXPECT_TRUE(b.core.may_issue(0, release));
  b.core.begin_access(0, load.mem, 1);
  EXPECT_FALSE(b.core.may_issue(0, release));
  EXPECT_TRUE(b.core.may_issue(0, store));
  EXPECT_TRUE(b.core.complete_access(0, load, access, 0, false));
  b.core.begin_access(0, store.mem, 1);
  EXPECT_FALSE(b.core.may_issue(0, release));
  EXPECT_FALSE(b.core.complete_access(0, store, access, 0, true)) << "its results go nowhere";
  EXPECT_TRUE(b.core.may_issue(0, release));
}

TEST(SmCore, AKilledWarpReleasesTheBarrierThatTheOthersWaitAt) {
  CoreBench b({repeated(InstructionKind::alu, 3), repeated(InstructionKind::alu, 3)});
  Issue issue;
  issue.active = ~LaneMask{0};
  b.core.arrive(0, issue, b.released);
  EXPECT_TRUE(b.released.empty());
  b.core.kill(1, b.released);
  ASSERT_EQ(b.released.size(), 2U);
  EXPECT_EQ(b.released[0].slot, 0U);
  EXPECT_TRUE(b.core.may_end(1));
}

TEST(SmCore, ACallBeyondTheCacheSpillsAndTheReturnWantsItBack) {
  const unsigned entries = SmParameters{}.stack_entries;
  CoreBench b({repeated(InstructionKind::call, entries + 1) + repeated(InstructionKind::ret, entries + 1)});
  Instruction call, ret;
  call.kind = InstructionKind::call;
  ret.kind = InstructionKind::ret;
  const auto execute = [&](const Instruction& i) {
    Issue issue;
    EXPECT_EQ(b.core.execute_stack(0, i, issue), SmCore::StackOutcome::done);
  };
  for (unsigned n = 0; n < entries; ++n) {
    EXPECT_FALSE(b.core.move_before(0, call));
    execute(call);
  }
  const auto spill = b.core.move_before(0, call);
  ASSERT_TRUE(spill);
  EXPECT_TRUE(spill->spill);
  EXPECT_EQ(spill->tokens.count, CallReturnStack::kGroup);
  MemoryAccess access;
  b.core.begin_move(0, *spill, access);
  EXPECT_EQ(access.active, 0xFFU) << "two words a token";
  EXPECT_EQ(access.address[0], 64U) << "behind the program's local memory";
  execute(call);
  EXPECT_FALSE(b.core.complete_move(0, true, access, false));
  for (unsigned n = 0; n < entries + 1 - CallReturnStack::kGroup; ++n) {
    EXPECT_FALSE(b.core.move_before(0, ret));
    execute(ret);
  }
  const auto refill = b.core.move_before(0, ret);
  ASSERT_TRUE(refill);
  EXPECT_FALSE(refill->spill);
  MemoryAccess back;
  b.core.begin_move(0, *refill, back);
  EXPECT_EQ(b.core.next(0), nullptr) << "the warp stands still";
  EXPECT_TRUE(b.core.complete_move(0, false, access, false));
  EXPECT_FALSE(b.core.move_before(0, ret));
  execute(ret);
  EXPECT_EQ(b.log.returned.back(), kToken + 3);
}

TEST(Ordering, WhatFencesAskOfCaches) {
  const auto fence = [](Semantics semantics, Scope scope) {
    MemOp op;
    op.kind = MemKind::fence;
    op.semantics = semantics;
    op.scope = scope;
    return step_of_fence(op);
  };
  EXPECT_FALSE(fence(Semantics::acq_rel, Scope::cta));
  const auto gpu = fence(Semantics::acq_rel, Scope::gpu);
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->maintenance.what, maintenance::kDrain | maintenance::kInvalidate);
  EXPECT_EQ(gpu->hold, Hold::maintenance);
  EXPECT_EQ(fence(Semantics::sc, Scope::sys)->maintenance.what,
            maintenance::kDrain | maintenance::kInvalidate | maintenance::kWriteBackSysmem |
                maintenance::kDiscardSysmem);
  MemOp proxy;
  proxy.kind = MemKind::proxy_fence;
  proxy.proxy = Proxy::async;
  ASSERT_TRUE(step_of_fence(proxy));
  EXPECT_EQ(step_of_fence(proxy)->maintenance.what, maintenance::kDrain | maintenance::kInvalidate);
  proxy.space = Space::shared;
  EXPECT_FALSE(step_of_fence(proxy)) << "bulk copies reach shared memory as other accesses do";
  proxy.space = Space::generic;
  proxy.proxy = Proxy::texture;
  EXPECT_EQ(step_of_fence(proxy)->hold, Hold::proxy_drain);
  EXPECT_EQ(step_after_proxy_drain(Proxy::texture)->maintenance.cache, SmCache::texture);
  EXPECT_EQ(step_after_proxy_drain(Proxy::constant)->maintenance.cache, SmCache::constant);
}

TEST(Scoreboard, FewRegistersAreLookedAtAsManyAre) {
  constexpr unsigned kRegisters = 12, kRuns = 500;
  Random random(3);
  Scoreboard scoreboard;
  scoreboard.start(2, kRegisters);
  scoreboard.clear(0);
  scoreboard.clear(1);
  std::array<Cycle, kRegisters> there{};
  unsigned few = 0;
  for (unsigned run = 0; run < kRuns; ++run) {
    const auto draw = [&](unsigned most) {
      std::vector<std::uint16_t> list(random.below(most + 1));
      for (std::uint16_t& r : list) r = static_cast<std::uint16_t>(random.below(kRegisters));
      return list;
    };
    Instruction i;
    const auto sources = draw(4), destinations = draw(2);
    i.name_registers(sources, destinations);
    few += i.few_registers;
    EXPECT_EQ(i.few_registers, !(sources.empty() && destinations.empty()) &&
                                   sources.size() + destinations.size() <= 4 && destinations.size() <= 1);
    Cycle expected = 0;
    for (const auto& list : {sources, destinations})
      for (const std::uint16_t r : list) expected = std::max(expected, there[r]);
    ASSERT_EQ(scoreboard.ready(1, i), expected) << "run " << run;
    ASSERT_EQ(scoreboard.ready(0, i), 0U);
    const Cycle at = random.below(1000);
    scoreboard.set(1, i, at);
    for (const std::uint16_t r : destinations) there[r] = at;
  }
  EXPECT_GT(few, kRuns / 4);
  EXPECT_LT(few, kRuns);
}

TEST(WarpScheduler, TurnsGoRoundAndThoseThatNeedRoomWaitForIt) {
  SmParameters p;
  p.partitions = 2;
  ArithmeticPipes pipes(p);
  WarpScheduler scheduler(2, pipes);
  scheduler.reset(0);
  std::vector<unsigned> issued;
  const auto issue = [&](bool room) {
    issued.clear();
    scheduler.issue([room] { return room; }, [&](unsigned slot) { issued.push_back(slot); });
    return issued;
  };
  for (const unsigned slot : {0U, 1U, 2U}) scheduler.schedule(slot, 0);
  EXPECT_EQ(issue(true), (std::vector<unsigned>{0, 1}));
  scheduler.schedule(0, 0);
  EXPECT_EQ(issue(true), (std::vector<unsigned>{2})) << "slot 2's turn comes before slot 0's next";
  scheduler.set_needs_room(0, true);
  EXPECT_TRUE(issue(false).empty());
  EXPECT_FALSE(scheduler.any(false));
  EXPECT_TRUE(scheduler.is_scheduled(0));
  EXPECT_EQ(issue(true), (std::vector<unsigned>{0}));
  scheduler.schedule(3, 5);
  EXPECT_EQ(scheduler.next_edge(), 5U);
  scheduler.advance(4);
  EXPECT_FALSE(scheduler.any(true));
  scheduler.advance(5);
  EXPECT_TRUE(scheduler.any(true));
  scheduler.schedule(3, kNever);
  EXPECT_FALSE(scheduler.any(true));
}

}  // namespace sm_core_test
}  // namespace warpline::test
