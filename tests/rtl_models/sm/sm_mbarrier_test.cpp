// mbarriers: the object against a naive one, and on an SM: phases, waits, copies that arrive, what is wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/mbarrier.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_mbarrier_test {

using Operation = MbarrierOperation;
using Form = MbarrierForm;

/// An mbarrier as the PTX ISA tells of it, with a phase that only grows.
struct NaiveMbarrier {
  bool there = false;
  std::int64_t phase = 0, expected = 0, pending = 0, bytes = 0;

  void settle() {
    if (pending != 0 || bytes != 0) return;
    ++phase;
    pending = expected;
  }
  /// False: it is not allowed, and nothing has changed.
  bool apply(Operation o, Form f, std::int64_t n) {
    constexpr std::int64_t kMost = (1 << 20) - 1;
    if (o == Operation::init) {
      if (n < 1 || n > kMost) return false;
      *this = {true, 0, n, n, 0};
      return true;
    }
    if (!there) return false;
    const bool expects = f == Form::expect_tx;
    const std::int64_t arrivals = expects ? 1 : n, raise = expects ? n : 0;
    switch (o) {
      case Operation::inval: *this = {}; return true;
      case Operation::expect_tx:
      case Operation::complete_tx: {
        const std::int64_t sum = bytes + (o == Operation::expect_tx ? n : -n);
        if (n > kMost || sum > kMost || sum < -kMost) return false;
        bytes = sum;
        if (n != 0) settle();
        return true;
      }
      case Operation::arrive:
      case Operation::arrive_drop: {
        const bool drops = o == Operation::arrive_drop;
        if (raise > kMost || bytes + raise > kMost || arrivals < 1 || arrivals > pending) return false;
        if (drops && arrivals > expected) return false;
        if (f == Form::no_complete && arrivals == pending && bytes == 0) return false;
        bytes += raise;
        pending -= arrivals;
        if (drops) expected -= arrivals;
        settle();
        return true;
      }
      default: return true;
    }
  }
};

TEST(Mbarrier, IsTheNaiveOne) {
  constexpr Operation kOperations[] = {Operation::arrive,    Operation::arrive,      Operation::arrive_drop,
                                       Operation::expect_tx, Operation::complete_tx, Operation::inval,
                                       Operation::init};
  constexpr Form kForms[] = {Form::plain, Form::no_complete, Form::expect_tx};
  std::uint64_t phases = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    Random random(seed);
    NaiveMbarrier naive;
    std::uint64_t word = random.below(2) == 0 ? 0 : random.below(1000);
    std::vector<std::pair<std::uint64_t, std::int64_t>> states;
    for (unsigned step = 0; step < 120; ++step) {
      MemOp op;
      op.kind = MemKind::mbarrier;
      // Where everybody has dropped out, nothing more can happen.
      const bool over = (step == 0 && random.below(8) != 0) || (naive.there && naive.expected == 0);
      op.mbarrier = over ? Operation::init : kOperations[random.below(random.below(20) == 0 ? 7 : 5)];
      if (op.mbarrier <= Operation::arrive_drop && op.mbarrier >= Operation::arrive)
        op.mbarrier_form = kForms[random.below(3)];
      const std::uint32_t counts[] = {static_cast<std::uint32_t>(random.below(over ? 12 : 4)),
                                      static_cast<std::uint32_t>(std::max<std::int64_t>(0, naive.pending)),
                                      static_cast<std::uint32_t>(std::max<std::int64_t>(0, naive.bytes)),
                                      static_cast<std::uint32_t>(std::max<std::int64_t>(0, -naive.bytes)),
                                      (1U << 20U) - 1,
                                      1U << 20U,
                                      ~0U};
      std::size_t which = random.below(random.below(6) == 0 ? 7 : 4);
      if (naive.bytes != 0 && random.below(2) == 0) {  // what evens them
        op = {};
        op.kind = MemKind::mbarrier;
        op.mbarrier = naive.bytes > 0 ? Operation::complete_tx : Operation::expect_tx;
        which = naive.bytes > 0 ? 2 : 3;
      }
      const std::uint32_t n = counts[which];
      const bool arrival = op.mbarrier == Operation::arrive || op.mbarrier == Operation::arrive_drop;
      Mbarrier object(word);
      const std::int64_t before = naive.phase;
      const std::uint64_t state = word;
      const MbarrierStatus status = operate(op, n, object);
      const bool there = naive.there;
      const bool allowed = naive.apply(op.mbarrier, op.mbarrier_form, n);
      ASSERT_EQ(status < MbarrierStatus::no_object, allowed) << "seed " << seed << " step " << step;
      if (!allowed) {
        ++refused;
        ASSERT_EQ(status == MbarrierStatus::no_object, !there && op.mbarrier != Operation::init);
        ASSERT_EQ(object.word(), Mbarrier(word).word()) << "what is not allowed changes nothing";
      }
      if (op.mbarrier == Operation::init || op.mbarrier == Operation::inval) states.clear();
      if (allowed) word = object.word();
      const Mbarrier now(word);
      ASSERT_EQ(now.valid(), naive.there) << "seed " << seed << " step " << step;
      if (!naive.there) continue;
      if (op.mbarrier != Operation::init) {
        ASSERT_EQ(status == MbarrierStatus::completed, naive.phase != before);
      }
      phases += static_cast<std::uint64_t>(naive.phase != before);
      ASSERT_EQ(now.pending(), naive.pending) << "seed " << seed << " step " << step;
      ASSERT_EQ(now.expected(), naive.expected);
      ASSERT_EQ(now.pending_bytes(), naive.bytes);
      ASSERT_EQ(now.has_completed_parity(0), naive.phase % 2 == 1);
      ASSERT_EQ(now.has_completed_parity(1), naive.phase % 2 == 0);
      if (allowed && arrival) {
        ASSERT_EQ(Mbarrier(state).phase_parity(), before % 2);
        states.emplace_back(state, before);
      }
      for (const auto& [taken, of] : states) {
        ASSERT_EQ(now.has_completed(taken), (naive.phase - of) % 2 == 1) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(phases, 1000U);
  EXPECT_GT(refused, 1000U);
}

/// All lanes of `active` do the same to the object at `at`.
Step on(std::uint64_t at, Operation operation, std::uint32_t count = 1, LaneMask active = 1,
        Form form = Form::plain, std::uint64_t phase = 0, std::uint32_t ticks = 0) {
  Step s = memory(MemKind::mbarrier, Space::shared, DataType::b64,
                  [=](MemoryAccess& a) {
                    strided(at, 0, active)(a);
                    const MbarrierOperands operands{count, ticks};
                    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
                      std::memcpy(a.lane_data(lane), &operands, sizeof operands);
                      a.second[lane] = phase;
                    }
                  },
                  {1});
  s.instruction.mem.mbarrier = operation;
  s.instruction.mem.mbarrier_form = form;
  return s;
}
/// A wait for the phase of that parity, after which nothing issues until it is answered.
Step wait_for(std::uint64_t at, unsigned parity, std::uint32_t ticks = 0) {
  return ordered(on(at, Operation::try_wait, 1, 1, Form::parity, parity, ticks), Semantics::acquire,
                 Scope::cta);
}
std::uint64_t answer(const SmBench& bench, unsigned slot, std::size_t step, unsigned lane = 0) {
  std::uint64_t word = 0;
  std::memcpy(&word, &bench.log.loaded.at({slot, step}).data[lane * LaneBuffers::kMaxLaneBytes], sizeof word);
  return word;
}

/// What a step of a random script does, for the twin.
struct Deed {
  Operation operation = Operation::init;
  Form form = Form::plain;
  std::uint32_t count = 0;
  unsigned lanes = 0;
  std::int64_t round = -1;  ///< of a wait
};

// Warps arrive, with random counts, in parts, dropping out, with transactions, and wait for each other. The
// twin does in the order of issue what they did: no wait may be passed before its phase is complete.
TEST(SmMbarrier, PhasesAreRightUnderEveryInterleaving) {
  constexpr std::uint64_t kAt = 0x40;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::vector<std::vector<std::pair<std::size_t, std::uint64_t>>> seen;
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      Random random(seed);
      const unsigned warps = 2 + static_cast<unsigned>(random.below(5));
      const unsigned rounds = 3 + static_cast<unsigned>(random.below(4));
      std::vector<std::vector<Step>> scripts(warps);
      std::vector<std::vector<Deed>> deeds(warps);
      std::vector<unsigned> lanes(warps), leaves(warps, rounds);
      std::uint32_t expected = 0;
      for (unsigned w = 0; w < warps; ++w) {
        lanes[w] = 1 + static_cast<unsigned>(random.below(8));
        if (w != 0 && random.below(3) == 0) leaves[w] = static_cast<unsigned>(random.below(rounds));
        expected += 2 * lanes[w];
      }
      const auto add = [&](unsigned w, const Deed& d, unsigned parity = 0) {
        const LaneMask mask = (LaneMask{1} << d.lanes) - 1;
        const bool waits = d.round >= 0;
        scripts[w].push_back(waits ? wait_for(kAt, parity) : on(kAt, d.operation, d.count, mask, d.form));
        deeds[w].push_back(d);
      };
      const auto pause = [&](unsigned w) {
        scripts[w].push_back(alu(static_cast<std::uint8_t>(1 + random.below(60)), {2}, {2}));
        deeds[w].push_back({});
        deeds[w].back().lanes = 0;
      };
      add(0, {Operation::init, Form::plain, expected, 1});
      for (unsigned w = 0; w < warps; ++w) {
        scripts[w].push_back(barrier({0, 0, true}));
        deeds[w].push_back({});
      }
      for (unsigned r = 0; r < rounds; ++r) {
        // The last warp that is there completes what the first one expects.
        const auto bytes = static_cast<std::uint32_t>(random.below(2) * random.below(5000));
        unsigned last = 0;
        for (unsigned w = 0; w < warps; ++w)
          if (leaves[w] >= r) last = w;
        for (unsigned w = 0; w < warps; ++w) {
          if (leaves[w] < r) continue;
          if (random.below(2) == 0) pause(w);
          const bool early = random.below(2) == 0;
          if (w == last && bytes != 0 && early) add(w, {Operation::complete_tx, Form::plain, bytes, 1});
          if (random.below(2) == 0) pause(w);
          if (w == 0) add(0, {Operation::expect_tx, Form::plain, bytes, 1});
          const Operation arrival = leaves[w] == r ? Operation::arrive_drop : Operation::arrive;
          if (random.below(2) == 0) {
            add(w, {arrival, Form::plain, 2, lanes[w]});
          } else {
            add(w, {arrival, Form::plain, 1, lanes[w]});
            if (random.below(2) == 0) pause(w);
            add(w, {arrival, Form::plain, 1, lanes[w]});
          }
          if (random.below(2) == 0) pause(w);
          if (w == last && bytes != 0 && !early) add(w, {Operation::complete_tx, Form::plain, bytes, 1});
          if (leaves[w] > r) add(w, {Operation::try_wait, Form::parity, 0, 1, r}, r % 2);
        }
      }
      for (unsigned w = 0; w < warps; ++w) {
        scripts[w].push_back(alu(1, {1}));
        deeds[w].push_back({});
      }
      SmParameters p;
      p.mbarrier_try_wait_cycles = 100000;
      SmBench bench(scripts, SmBench::fixed(20), p, mode);
      ASSERT_EQ(bench.run(), RunOutcome::quiescent) << "seed " << seed;
      EXPECT_EQ(bench.sm.lsu_counters().mbarrier_timeouts, 0U) << "seed " << seed;
      ASSERT_EQ(bench.sm.lsu_counters().faults, 0U) << "seed " << seed;
      NaiveMbarrier naive;
      std::vector<std::pair<std::size_t, std::uint64_t>> order;
      for (const Log::Issued& i : bench.log.issued) {
        order.emplace_back(i.slot * 1000 + i.step, i.edge);
        const Deed& d = deeds[i.slot][i.step];
        const bool passed = i.step > 0 && deeds[i.slot][i.step - 1].round >= 0;
        if (passed) {
          ASSERT_GT(naive.phase, deeds[i.slot][i.step - 1].round) << "seed " << seed << " warp " << i.slot;
          ASSERT_EQ(answer(bench, i.slot, i.step - 1), 1U);
        }
        if (d.round >= 0) continue;
        for (unsigned lane = 0; lane < d.lanes; ++lane) {
          if (d.operation == Operation::arrive || d.operation == Operation::arrive_drop) {
            const Mbarrier state(answer(bench, i.slot, i.step, lane));
            ASSERT_EQ(state.pending(), naive.pending) << "seed " << seed << " warp " << i.slot;
            ASSERT_EQ(state.phase_parity(), naive.phase % 2);
          }
          ASSERT_TRUE(naive.apply(d.operation, d.form, d.count)) << "seed " << seed;
        }
      }
      EXPECT_EQ(naive.phase, rounds) << "seed " << seed;
      EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, rounds);
      seen.push_back(order);
    }
    ASSERT_EQ(seen[0], seen[1]) << "seed " << seed;
    ASSERT_EQ(seen[0], seen[2]) << "seed " << seed;
  }
}

TEST(SmMbarrier, AWaitIsAnsweredWhenThePhaseIsCompleteAndNotLater) {
  // The second warp arrives 200 cycles late.
  SmBench bench({{on(0, Operation::init, 1), barrier({0, 0, true}), wait_for(0, 0), alu(1, {1})},
                 {barrier({0, 0, true}), alu(200, {}, {2}), alu(1, {2}), on(0, Operation::arrive), alu(1)}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  const std::uint64_t arrival = bench.log.edge_of(1, 3), on_time = bench.log.edge_of(0, 3);
  EXPECT_GT(arrival, 200U);
  // What an arrival and a wait of one warp take, one behind the other.
  EXPECT_EQ(on_time - arrival, SmParameters{}.shared_latency);
  EXPECT_EQ(answer(bench, 0, 2), 1U);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_waits, 1U);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, 1U);
}

TEST(SmMbarrier, AWaitGivesUpAfterItsTime) {
  for (const std::uint32_t ticks : {0U, 300U}) {
    SmParameters p;
    p.mbarrier_try_wait_cycles = 900;
    SmBench bench({{on(0, Operation::init, 1), wait_for(0, 0, ticks), alu(1, {1})}}, SmBench::fixed(20), p);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(answer(bench, 0, 1), 0U);
    const std::uint64_t waited = bench.log.edge_of(0, 2) - bench.log.edge_of(0, 1);
    EXPECT_EQ(waited, (ticks == 0 ? 900 : 300) + p.shared_latency);
    EXPECT_EQ(bench.sm.lsu_counters().mbarrier_timeouts, 1U);
  }
}

TEST(SmMbarrier, ATestAnswersAtOnce) {
  SmBench bench({{on(0, Operation::init, 1), on(0, Operation::test_wait, 1, 1, Form::parity, 0),
                  on(0, Operation::test_wait, 1, 1, Form::parity, 1), on(0, Operation::arrive),
                  on(0, Operation::test_wait, 1, 1, Form::parity, 0), alu(1, {1})}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(answer(bench, 0, 1) & 0xFF, 0U);
  EXPECT_EQ(answer(bench, 0, 2) & 0xFF, 1U) << "the phase before the first counts as complete";
  EXPECT_EQ(answer(bench, 0, 4) & 0xFF, 1U);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_waits, 0U);
}

TEST(SmMbarrier, WaitsLeaveRoomForWhatTheyWaitFor) {
  SmParameters p;
  p.lsu_entries = p.lsu_queue = 1;
  std::vector<std::vector<Step>> scripts(6, {barrier({0, 0, true}), on(0, Operation::arrive), wait_for(0, 0),
                                             on(0, Operation::arrive), wait_for(0, 1)});
  scripts[0].insert(scripts[0].begin(), on(0, Operation::init, 6));
  SmBench bench(scripts, SmBench::fixed(20), p);
  ASSERT_EQ(bench.run(3), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_timeouts, 0U);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, 6U);
}

TEST(SmMbarrier, ALateArrivalAfterAReleaseWaitsForTheWarpsStores) {
  const auto store = memory(MemKind::store, Space::global, DataType::b32, strided(0x1000, 4));
  for (const Semantics semantics : {Semantics::release, Semantics::relaxed}) {
    SmBench bench(
        {{on(0, Operation::init, 1), store, ordered(on(0, Operation::arrive), semantics, Scope::cta)}},
        SmBench::fixed(300));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.log.edge_of(0, 2) > 300, semantics == Semantics::release);
  }
}

TEST(SmMbarrier, AnAcquireAtTheClusterDropsLinesOfL1) {
  for (const Scope scope : {Scope::cta, Scope::cluster}) {
    SmBench bench(
        {{on(0, Operation::init, 1), on(0, Operation::arrive),
          ordered(on(0, Operation::try_wait, 1, 1, Form::parity, 0), Semantics::acquire, scope), alu(1)}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.l1.seen.size(), scope == Scope::cta ? 0U : 1U);
    if (scope == Scope::cluster) {
      EXPECT_EQ(bench.l1.seen[0].maintenance, maintenance::kInvalidate);
    }
  }
}

/// A copy of 4 bytes a lane.
Step copy() {
  return memory(MemKind::async_copy, Space::global, DataType::b32, [](MemoryAccess& a) {
    a.active = ~LaneMask{0};
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      a.address[lane] = 0x1000 + std::uint64_t{lane} * 4;
      a.second[lane] = CopyTarget{0x100 + lane * 4, 4}.packed();
    }
  });
}

TEST(SmMbarrier, CopiesArriveWhenTheEarlierOnesAreDoneAndForNoLaterOnes) {
  const auto delay = [](const Request&, std::size_t n) { return n == 0 ? Cycle{400} : Cycle{3000}; };
  for (const Form form : {Form::plain, Form::no_increment}) {
    const bool counted = form == Form::no_increment;
    // Without .noinc, each lane's arrival was added when the instruction was performed: one is left.
    SmBench bench({{on(0, Operation::init, counted ? 32 : 1), copy(),
                    on(0, Operation::copies_arrive, 1, ~LaneMask{0}, form), copy(),
                    on(0, Operation::arrive, 1, counted ? 0 : 1), wait_for(0, 0), alu(1)}},
                  delay);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_GT(bench.log.edge_of(0, 6), 400U);
    EXPECT_LT(bench.log.edge_of(0, 6), 600U) << "the second copy comes later";
    EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, 1U);
  }
}

TEST(SmMbarrier, CopiesThatAreDoneArriveAtOnce) {
  SmBench bench(
      {{on(0, Operation::init, 32), on(0, Operation::copies_arrive, 1, ~LaneMask{0}, Form::no_increment),
        wait_for(0, 0), alu(1)}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_phases, 1U);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_timeouts, 0U);
}

TEST(SmMbarrier, WhatIsWrongIsAFaultOfItsLane) {
  const LaneMask two = LaneMask{1} << 3 | LaneMask{1} << 7;
  Step outside = on(0x1000, Operation::arrive, 1, two);
  outside.instruction.mem.space = Space::generic;
  struct Row {
    const char* what;
    std::vector<Step> steps;
    FaultKind kind;
    unsigned lane;
    std::uint64_t address;
  };
  const Row rows[] = {
      {"nothing there", {on(8, Operation::arrive, 1, two)}, FaultKind::no_mbarrier, 3, 8},
      {"wait for nothing", {on(8, Operation::test_wait, 1, two)}, FaultKind::no_mbarrier, 3, 8},
      {"invalidated",
       {on(8, Operation::init, 1), on(8, Operation::inval), on(8, Operation::inval)},
       FaultKind::no_mbarrier,
       0,
       8},
      {"no arrivals", {on(8, Operation::init, 0)}, FaultKind::mbarrier_count, 0, 8},
      {"too many expected", {on(8, Operation::init, 1U << 20U)}, FaultKind::mbarrier_count, 0, 8},
      {"more than pending",
       {on(8, Operation::init, 1), on(8, Operation::arrive, 2, two)},
       FaultKind::mbarrier_count,
       3,
       8},
      {"the second lane's is too much",
       {on(8, Operation::init, 3), on(8, Operation::arrive, 2, two)},
       FaultKind::mbarrier_count,
       7,
       8},
      {"completes",
       {on(8, Operation::init, 1), on(8, Operation::arrive, 1, two, Form::no_complete)},
       FaultKind::mbarrier_count,
       3,
       8},
      {"too many bytes",
       {on(8, Operation::init, 1), on(8, Operation::expect_tx, 1U << 20U)},
       FaultKind::mbarrier_count,
       0,
       8},
      {"misaligned", {on(12, Operation::init, 1)}, FaultKind::misaligned, 0, 12},
      {"beyond", {on(1024, Operation::init, 1)}, FaultKind::shared_range, 0, 1024},
      {"not shared", {outside}, FaultKind::not_shared, 3, 0x1000},
      {"gone when copies arrive",
       {on(8, Operation::init, 5), copy(), on(8, Operation::copies_arrive, 1, two), on(8, Operation::inval)},
       FaultKind::no_mbarrier,
       3,
       8}};
  for (const Row& row : rows) {
    SmBench bench({row.steps}, SmBench::fixed(200));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent) << row.what;
    ASSERT_EQ(bench.sm.faults().size(), 1U) << row.what;
    EXPECT_EQ(bench.sm.faults()[0].kind, name_of(row.kind)) << row.what;
    EXPECT_EQ(bench.sm.faults()[0].fault.lane, row.lane) << row.what;
    EXPECT_EQ(bench.sm.faults()[0].fault.address, row.address) << row.what;
    EXPECT_EQ(bench.sm.lsu_counters().faults, 1U) << row.what;
  }
}

TEST(SmMbarrier, AWaitThatNobodyEndsIsExplained) {
  SmParameters p;
  p.mbarrier_try_wait_cycles = 1000000000;
  SmBench bench({{on(8, Operation::init, 2), on(8, Operation::arrive), on(8, Operation::expect_tx, 64),
                  wait_for(8, 0)}},
                SmBench::fixed(20), p);
  ASSERT_EQ(bench.run(), RunOutcome::cycle_limit);
  std::vector<Wait> waits;
  bench.sm.explain(waits);
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(
      waits[0].what,
      "the mbarrier at 0x8 of shared memory: its phase lacks 1 of 2 arrivals and 64 bytes of transactions "
      "(CTA 0,0,0)");
  // A warp that is ended waits no more.
  bench.sm.end_kernel();
  EXPECT_EQ(bench.engine.run_until(2000000000), RunOutcome::quiescent);
  EXPECT_LT(bench.engine.now(), 1000U);
  EXPECT_EQ(bench.sm.lsu_counters().mbarrier_timeouts, 0U);
}

}  // namespace sm_mbarrier_test
}  // namespace warpline::test
