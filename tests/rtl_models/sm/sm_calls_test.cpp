// Calls, returns and the call-return stack, in time and through memory.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/call_script.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_calls_test {

SmParameters small() {
  SmParameters p;
  p.stack_entries = 8;
  p.stack_depth = 64;
  return p;
}

/// Runs `moves` in one warp of an SM above flat memories.
struct CallBench {
  explicit CallBench(std::vector<CallSource::Move> the_moves, SmParameters p = small(), Cycle latency = 20,
                     TickMode mode = TickMode::lazy)
      : bench({{}}, SmBench::fixed(latency), p, mode), scripts{std::move(the_moves)} {
    KernelInfo info;
    info.grid = {1, 1, 1};
    info.block = {kWarpLanes, 1, 1};
    info.registers = 8;
    info.local_bytes = 64;
    info.calls = true;
    MemoryMap map;
    map.space = &bench.space;
    map.images = &bench.images;
    map.local_base = physical(Aperture::vidmem, 0x200000);
    map.local_bytes = info.local_window_bytes(p);
    bench.sm.start(info, std::make_unique<CallSource>(scripts, log), map, 1);
    bench.distributor.start(info.grid, 1);
  }
  RunOutcome run() { return bench.engine.run_until(1000000); }
  /// The token of the backing store at `index`, as memory has it.
  [[nodiscard]] std::uint64_t in_memory(unsigned index) {
    const std::uint64_t at = 0x200000 + 64 * kWarpLanes + index * 8;
    const auto& line = bench.l1.lines[physical(Aperture::vidmem, at & ~std::uint64_t{kLineBytes - 1}).value];
    std::uint64_t token = 0;
    std::memcpy(&token, line.data() + at % kLineBytes, sizeof token);
    return token;
  }

  SmBench bench;
  std::vector<CallSource::Script> scripts;
  CallSource::Log log;
  const std::vector<std::uint64_t>& returned = log.returned;
};

TEST(SmCalls, TokensSpillToLocalMemoryAndComeBack) {
  CallBench b(repeated(InstructionKind::call, 30) + repeated(InstructionKind::ret, 31));
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  ASSERT_EQ(b.returned.size(), 31U);
  for (unsigned n = 0; n < 30; ++n) EXPECT_EQ(b.returned[n], kToken + 29 - n);
  EXPECT_EQ(b.returned[30], 0U) << "the stack is empty";
  const SmCounters& c = b.bench.sm.counters();
  EXPECT_EQ(c.calls, 30U);
  EXPECT_EQ(c.returns, 31U);
  EXPECT_EQ(c.stack_spills, 24U);
  EXPECT_EQ(c.stack_refills, 24U);
  EXPECT_EQ(b.bench.sm.lsu_counters().instructions, 0U) << "no instruction of the program accessed memory";
  EXPECT_EQ(b.bench.sm.lsu_counters().local_requests, 12U);
  for (const FlatMemory::Seen& seen : b.bench.l1.seen) {
    EXPECT_EQ(seen.line.value & ~std::uint64_t{0xFFF}, physical(Aperture::vidmem, 0x200000).value);
    EXPECT_EQ(sector_count(seen.sectors), 1U);
  }
}

TEST(SmCalls, CallsThatFitTheCacheTouchNoMemory) {
  CallBench b(repeated(InstructionKind::call, 8) + repeated(InstructionKind::ret, 8));
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  EXPECT_TRUE(b.bench.l1.seen.empty());
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(b.returned[n], kToken + 7 - n);
}

TEST(SmCalls, AFlushedStackLiesInMemoryAndIsStillThere) {
  CallBench b(repeated(InstructionKind::call, 6) + repeated(InstructionKind::flush_stack, 2) +
              repeated(InstructionKind::ret, 6));
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  for (unsigned n = 0; n < 6; ++n) EXPECT_EQ(b.in_memory(n), kToken + n);
  EXPECT_EQ(b.bench.sm.counters().stack_spills, 12U) << "each flush writes what the SM holds";
  EXPECT_EQ(b.bench.sm.counters().stack_refills, 0U);
}

/// The instruction after a flush issues when L1 has accepted every token.
TEST(SmCalls, AFlushWaitsForL1) {
  for (const unsigned queue : {1U, 16U}) {
    SmParameters p = small();
    p.lsu_queue = queue;
    CallBench b(repeated(InstructionKind::call, 8) + repeated(InstructionKind::flush_stack, 1) +
                    repeated(InstructionKind::call, 1),
                p, 200);
    Cycle accepted = 0;
    ASSERT_EQ(b.run(), RunOutcome::quiescent);
    ASSERT_EQ(b.bench.l1.seen.size(), 2U);
    for (const FlatMemory::Seen& seen : b.bench.l1.seen) accepted = std::max(accepted, seen.answered);
    EXPECT_GT(accepted, 200U);
    EXPECT_GT(b.log.last_issue, accepted);
  }
}

/// The seed's restore sequence, with what the backing store holds.
TEST(SmCalls, ARestoredStackReturnsWhatTheBackingStoreHolds) {
  using Kind = InstructionKind;
  CallBench b(repeated(Kind::call, 11) + repeated(Kind::flush_stack, 1) +
              std::vector<CallSource::Move>{{Kind::set_stack, 0}, {Kind::ret}, {Kind::set_stack, 11}} +
              repeated(Kind::ret, 11));
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  ASSERT_EQ(b.returned.size(), 12U);
  EXPECT_EQ(b.returned[0], 0U) << "the stack was empty";
  for (unsigned n = 0; n < 11; ++n) EXPECT_EQ(b.returned[n + 1], kToken + 10 - n);
}

/// A pointer set upward does not lose what was pushed below it.
TEST(SmCalls, RaisingThePointerWritesTheTokensBelowBack) {
  using Kind = InstructionKind;
  CallBench b(repeated(Kind::call, 3) + std::vector<CallSource::Move>{{Kind::set_stack, 9}} +
              repeated(Kind::ret, 9));
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  for (unsigned n = 0; n < 6; ++n) EXPECT_EQ(b.returned[n], 0U) << "memory that nobody wrote";
  for (unsigned n = 6; n < 9; ++n) EXPECT_EQ(b.returned[n], kToken + 8 - n);
}

TEST(SmCalls, OverflowIsAFaultAndEndsTheWarp) {
  CallBench b(repeated(InstructionKind::call, 70));
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  ASSERT_EQ(b.bench.sm.faults().size(), 1U);
  EXPECT_EQ(b.bench.sm.faults()[0].kind, "call-return stack overflow");
  EXPECT_EQ(b.bench.sm.counters().calls, 64U);
  CallBench high({{InstructionKind::set_stack, 65}, {InstructionKind::ret}});
  ASSERT_EQ(high.run(), RunOutcome::quiescent);
  EXPECT_EQ(high.bench.sm.faults().size(), 1U);
  EXPECT_TRUE(high.returned.empty());
}

/// Nothing of the program names the tokens' addresses: the return that wants them is where it happens.
TEST(SmCalls, ABusErrorOfATokenIsTheReturns) {
  CallBench b(repeated(InstructionKind::call, 20) + repeated(InstructionKind::ret, 20));
  b.bench.l1.broken = physical(Aperture::vidmem, 0x200000 + 64 * kWarpLanes);
  ASSERT_EQ(b.run(), RunOutcome::quiescent);
  EXPECT_EQ(b.returned.size(), 8U) << "what the cache held";
  ASSERT_EQ(b.bench.sm.faults().size(), 1U);
  const FaultReport& f = b.bench.sm.faults()[0];
  EXPECT_EQ(f.kind, "bus error");
  EXPECT_EQ(f.fault.address, 64U) << "behind the program's local memory";
  EXPECT_EQ(f.fault.lane, 16U) << "tokens 8 to 11 of the line";
  ASSERT_NE(f.fault.instruction, nullptr);
  EXPECT_EQ(f.fault.instruction->kind, InstructionKind::ret);
  EXPECT_EQ(b.bench.sm.counters().warps, 1U);
}

/// Random calls, returns, flushes and pointers in every tick mode, with queues of every length.
TEST(SmCalls, RandomCallsReturnWhatTheyShould) {
  using Kind = InstructionKind;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<CallSource::Move> moves;
    std::vector<std::uint64_t> stack, expected;
    for (unsigned n = 0; n < 400; ++n) {
      switch (random.below(10)) {
        case 0: moves.push_back({Kind::flush_stack}); break;
        case 1:
          if (!stack.empty()) stack.resize(random.below(stack.size() + 1));
          moves.push_back({Kind::set_stack, static_cast<std::uint32_t>(stack.size())});
          break;
        case 2:
        case 3:
        case 4:
        case 5:
          moves.push_back({Kind::ret});
          expected.push_back(stack.empty() ? 0 : stack.back());
          if (!stack.empty()) stack.pop_back();
          break;
        default:
          if (stack.size() == 64) break;
          stack.push_back(kToken + moves.size());
          moves.push_back({Kind::call});
      }
    }
    SmParameters p = small();
    p.lsu_queue = static_cast<unsigned>(1 + random.below(4));
    p.lsu_entries = p.lsu_queue + static_cast<unsigned>(random.below(4));
    p.stack_entries = static_cast<unsigned>(8 + 4 * random.below(3));
    constexpr TickMode kModes[] = {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled};
    CallBench b(moves, p, 1 + random.below(60), kModes[seed % 3]);
    ASSERT_EQ(b.run(), RunOutcome::quiescent);
    ASSERT_EQ(b.returned, expected);
  }
}

}  // namespace sm_calls_test
}  // namespace warpline::test
