// Instruction fetch: which lines of code are requested and when, and what a warp waits for.
#include <gtest/gtest.h>

#include <algorithm>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_fetch_test {

constexpr std::uint32_t kStep = 16;  ///< bytes of an instruction

/// `count` instructions side by side from `pc` on.
std::vector<Step> straight(std::uint32_t pc, unsigned count) {
  std::vector<Step> steps;
  for (unsigned i = 0; i < count; ++i) steps.push_back(at(pc + i * kStep, alu(1)));
  return steps;
}

/// Lines requested, in order, as numbers in the kernel's code; -1: an invalidation.
std::vector<int> asked(const SmBench& bench) {
  std::vector<int> out;
  for (const FlatMemory::Seen& s : bench.instruction.seen)
    out.push_back(s.command == Command::maintain
                      ? -1
                      : static_cast<int>((s.line.value - SmBench::kCodeBase.value) / kLineBytes));
  return out;
}

TEST(SmFetch, AKernelWithoutCodeFetchesNothing) {
  SmBench bench({straight(0, 40)});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_TRUE(bench.instruction.seen.empty());
  EXPECT_EQ(bench.log.edge_of(0, 39), bench.log.edge_of(0, 0) + 39);
}

TEST(SmFetch, AnSmThatFetchesNoInstructionsFindsThemAllThere) {
  SmParameters p;
  p.fetch_instructions = false;
  SmBench bench({straight(0, 40)}, SmBench::fixed(20), p);
  bench.code_bytes = 40 * kStep;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_TRUE(bench.instruction.seen.empty());
  EXPECT_EQ(bench.log.edge_of(0, 39), bench.log.edge_of(0, 0) + 39);
}

TEST(SmFetch, AWarpIssuesInTheCycleInWhichItsLineComes) {
  for (const Cycle delay : {Cycle{1}, Cycle{50}, Cycle{333}}) {
    SmBench bench({straight(0, 8)}, SmBench::fixed(delay));
    bench.code_bytes = 8 * kStep;
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_EQ(asked(bench), std::vector<int>({0}));
    const FlatMemory::Seen& fetch = bench.instruction.seen[0];
    EXPECT_EQ(fetch.sectors, kAllSectors);
    EXPECT_EQ(bench.log.edge_of(0, 0), fetch.answered + SmBench::kChannel.latency);
    EXPECT_EQ(bench.log.edge_of(0, 7), bench.log.edge_of(0, 0) + 7) << "the rest of the line is there";
    EXPECT_EQ(bench.sm.fetch_counters().waits, 1U);
  }
}

TEST(SmFetch, TheLineAfterIsOnItsWayWhenAWarpComesToIt) {
  SmBench bench({straight(0, 32)}, SmBench::fixed(6));
  bench.code_bytes = 32 * kStep;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(asked(bench), std::vector<int>({0, 1, 2, 3})) << "none beyond the end";
  EXPECT_EQ(bench.log.edge_of(0, 31), bench.log.edge_of(0, 0) + 31) << "a line lasts longer than a fetch";
  EXPECT_EQ(bench.sm.fetch_counters().prefetches, 3U);
  EXPECT_EQ(bench.sm.fetch_counters().waits, 1U);
}

TEST(SmFetch, WarpsShareAFetch) {
  SmBench bench(std::vector<std::vector<Step>>(6, straight(0, 16)));
  bench.code_bytes = 16 * kStep;
  ASSERT_EQ(bench.run(3), RunOutcome::quiescent);
  EXPECT_EQ(asked(bench), std::vector<int>({0, 1}));
  EXPECT_GE(bench.sm.fetch_counters().merges, 5U);
  EXPECT_EQ(bench.sm.fetch_counters().sectors, 8U);
}

TEST(SmFetch, TheBufferOutlivesTheKernel) {
  SmBench bench({straight(0, 16)});
  bench.code_bytes = 16 * kStep;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(asked(bench), std::vector<int>({0, 1})) << "the second time it is all there";
}

TEST(SmFetch, WarpsThatReplaceEachOthersLinesGoOn) {
  SmParameters p;
  p.instruction_buffer_lines = 1;
  std::vector<std::vector<Step>> scripts;
  for (std::uint32_t w = 0; w < 5; ++w) {
    scripts.emplace_back();
    for (std::uint32_t i = 0; i < 20; ++i) scripts.back().push_back(at((w + i) % 7 * kLineBytes, alu(1)));
  }
  SmBench bench(scripts, SmBench::fixed(9), p);
  bench.code_bytes = 7 * kLineBytes;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.log.issued.size(), 100U);
  EXPECT_GT(bench.sm.fetch_counters().requests, 20U);
}

TEST(SmFetch, ALineUnderWayAfterTheLastWarpIsNoStandstill) {
  // The line after the only one, which no warp waits for, comes long after the warp has exited.
  const auto delay = [](const Request& r, std::size_t) {
    return r.line == SmBench::kCodeBase ? Cycle{20} : Cycle{5000};
  };
  SmBench bench({straight(0, 4)}, delay);
  bench.code_bytes = 2 * kLineBytes;
  bench.prepare();
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::cycle_limit);
  ASSERT_EQ(bench.log.issued.size(), 4U);
  EXPECT_TRUE(bench.sm.busy());
  EXPECT_FALSE(bench.sm.changes_nothing());
  ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
  EXPECT_TRUE(bench.sm.changes_nothing());
}

TEST(SmFetch, AnInvalidationHasTheCodeFetchedAgainBehindIt) {
  SmBench bench({{at(0, alu(1)), at(16, invalidate_instructions(5)), at(32, alu(1))}}, SmBench::fixed(30));
  bench.code_bytes = 3 * kStep;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(asked(bench), std::vector<int>({0, -1, 0}));
  EXPECT_EQ(bench.instruction.seen[1].maintenance, maintenance::kInvalidate);
  EXPECT_EQ(bench.log.edge_of(0, 2), bench.instruction.seen[2].answered + SmBench::kChannel.latency);
  EXPECT_TRUE(bench.l1.seen.empty()) << "it enters no queue";
  EXPECT_EQ(bench.sm.fetch_counters().invalidations, 1U);
}

TEST(SmFetch, AWarpGoesOnAfterTheLatencyOfAnInvalidation) {
  for (const unsigned latency : {1U, 5U, 15U}) {
    // Without code there is nothing to be fetched anew.
    SmBench bench({{invalidate_instructions(static_cast<std::uint8_t>(latency)), alu(1)}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.log.edge_of(0, 1), bench.log.edge_of(0, 0) + latency);
    EXPECT_EQ(asked(bench), std::vector<int>({-1}));
  }
}

TEST(SmFetch, AFetchUnderWayAtAnInvalidationServesItsWaitersAndIsNotKept) {
  // Warp 0 waits for line 4 from its second instruction on, warp 1 invalidates meanwhile, warp 2 comes later.
  Step nap = at(0, alu(1));
  nap.instruction.kind = InstructionKind::sleep;
  nap.sleep = 200;
  const Step far = at(4 * kLineBytes, alu(1));
  SmBench bench({{at(0, alu(1)), far, far},
                 {at(0, alu(10, {}, {1})), at(16, alu(1, {1})), at(32, invalidate_instructions(5))},
                 {nap, at(16, alu(1)), far}},
                SmBench::fixed(60));
  bench.code_bytes = 5 * kLineBytes;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  const std::vector<int> lines = asked(bench);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), 4), 2);
  const auto first = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), 4) - lines.begin());
  const auto invalidation =
      static_cast<std::size_t>(std::find(lines.begin(), lines.end(), -1) - lines.begin());
  ASSERT_LT(first, invalidation);
  EXPECT_EQ(bench.log.edge_of(0, 1), bench.instruction.seen[first].answered + SmBench::kChannel.latency);
  const std::size_t second = static_cast<std::size_t>(
      std::find(lines.begin() + static_cast<int>(invalidation), lines.end(), 4) - lines.begin());
  ASSERT_LT(second, lines.size());
  EXPECT_EQ(bench.log.edge_of(0, 2), bench.instruction.seen[second].answered + SmBench::kChannel.latency)
      << "it serves what waited for it, which is one instruction";
}

/// Lanes of warp 0 wait at a barrier while its others are about to run in line 4, which takes long to come;
/// the release makes `released` the next, in the line that they ran in before.
std::vector<std::vector<Step>> diverged(const Step& released) {
  Step partly = at(16, barrier({0, 64, true}));
  partly.others_run = true;
  const Step far = at(4 * kLineBytes, alu(1));
  return {{at(0, alu(1)), partly, far, at(32, released), far},
          {at(0, alu(30, {}, {1})), at(16, alu(1, {1})), at(32, barrier({0, 64, true}))}};
}
SmBench::Delay far_takes(Cycle cycles) {
  return [cycles](const Request& r, std::size_t) {
    return r.line.value == SmBench::kCodeBase.value + 4 * kLineBytes ? cycles : 5;
  };
}

TEST(SmFetch, WhatAWarpInvalidatesItsOtherLanesDoNotRunEither) {
  SmBench bench(diverged(invalidate_instructions(5)), far_takes(300));
  bench.code_bytes = 5 * kLineBytes;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  const std::vector<int> lines = asked(bench);
  const auto invalidation = std::find(lines.begin(), lines.end(), -1);
  EXPECT_EQ(std::count(lines.begin(), invalidation, 4), 1);
  const auto again = std::find(invalidation, lines.end(), 4);
  ASSERT_NE(again, lines.end()) << "what was asked for before the warp's own invalidation is not for it";
  const FlatMemory::Seen& fetch = bench.instruction.seen[static_cast<std::size_t>(again - lines.begin())];
  EXPECT_EQ(bench.log.edge_of(0, 4), fetch.answered + SmBench::kChannel.latency);
}

TEST(SmFetch, AWaitIsNotForTheCodeOfLanesThatRunLater) {
  SmBench bench(diverged(memory(MemKind::load, Space::global, DataType::u32, strided(0x1000, 4), {2})),
                [](const Request& r, std::size_t) {
                  const bool near = r.line.value >= SmBench::kCodeBase.value &&
                                    r.line.value < SmBench::kCodeBase.value + 4 * kLineBytes;
                  return near ? Cycle{5} : Cycle{2000000};
                });
  bench.scripts[0].back() = at(48, alu(1, {2}));
  bench.code_bytes = 5 * kLineBytes;
  ASSERT_EQ(bench.run(), RunOutcome::cycle_limit);
  std::vector<Wait> waits;
  bench.sm.explain(waits);
  const auto warp =
      std::find_if(waits.begin(), waits.end(), [](const Wait& w) { return w.who == "sm[0] warp 0"; });
  ASSERT_NE(warp, waits.end());
  EXPECT_EQ(warp->what, "1 loads and 0 stores in flight, before pc 48 (CTA 0,0,0)");
}

TEST(SmFetch, CodeThatCannotBeReadEndsTheWarpsThatComeToIt) {
  // The line after is fetched ahead in vain, and then once more when warps come to it.
  SmBench bench({straight(0, 12), straight(0, 12), straight(0, 8)}, SmBench::fixed(4));
  bench.instruction.broken = PhysicalAddress{SmBench::kCodeBase.value + kLineBytes};
  bench.code_bytes = 12 * kStep;
  ASSERT_EQ(bench.run(2), RunOutcome::quiescent);
  EXPECT_EQ(bench.log.edge_of(0, 8), ~std::uint64_t{0});
  EXPECT_EQ(bench.sm.counters().ctas, 2U);
  EXPECT_EQ(bench.sm.counters().program_faults, 4U);
  ASSERT_EQ(bench.sm.faults().size(), 4U);
  const FaultReport& report = bench.sm.faults().front();
  EXPECT_EQ(report.kind, "bus error on an instruction fetch");
  EXPECT_EQ(report.where, "pc 128");
  EXPECT_EQ(report.fault.address, 128U);
  EXPECT_TRUE(bench.engine.quiescent());
}

TEST(SmFetch, AWarpThatEndsForWantOfCodeReleasesABarrier) {
  SmBench bench({{at(0, alu(1)), at(kLineBytes, alu(1))}, {at(0, barrier({0, 0, true})), at(16, alu(1))}});
  bench.instruction.broken = PhysicalAddress{SmBench::kCodeBase.value + kLineBytes};
  bench.code_bytes = 2 * kLineBytes;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_NE(bench.log.edge_of(1, 1), ~std::uint64_t{0});
}

TEST(SmFetch, AWaitSaysThatItIsForTheNextInstruction) {
  SmBench bench({straight(64, 1)}, SmBench::fixed(2000000));
  bench.code_bytes = 8 * kStep;
  ASSERT_EQ(bench.run(), RunOutcome::cycle_limit);
  std::vector<Wait> waits;
  bench.sm.explain(waits);
  const auto warp =
      std::find_if(waits.begin(), waits.end(), [](const Wait& w) { return w.who == "sm[0] warp 0"; });
  ASSERT_NE(warp, waits.end());
  EXPECT_EQ(warp->what, "its next instruction, being fetched, pc 64 (CTA 0,0,0)");
  EXPECT_NE(warp->answers.maker, nullptr);
}

/// Random code: warps that run, jump and invalidate.
std::vector<std::vector<Step>> random_scripts(Random& random, unsigned lines) {
  std::vector<std::vector<Step>> scripts(1 + random.below(6));
  const std::uint64_t rarity = 5 + random.below(60);
  for (auto& script : scripts) {
    std::uint32_t pc = 0;
    for (unsigned i = 0; i < 150; ++i) {
      const bool invalidates = random.below(rarity) == 0;
      const auto latency = static_cast<std::uint8_t>(1 + random.below(9));
      script.push_back(at(pc, invalidates ? invalidate_instructions(latency) : alu(latency, {1}, {1})));
      pc += kStep;
      if (random.below(6) == 0 || pc >= lines * kLineBytes)
        pc = static_cast<std::uint32_t>(random.below(std::uint64_t{lines} * kLineBytes / kStep)) * kStep;
    }
  }
  return scripts;
}

TEST(SmFetch, NothingIssuesFromALineThatWasNotFetchedSinceTheLastInvalidation) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 31);
    const unsigned lines = 1 + static_cast<unsigned>(random.below(12));
    const auto scripts = random_scripts(random, lines);
    SmParameters p;
    p.instruction_buffer_lines = 1 + static_cast<unsigned>(random.below(12));
    p.partitions = 1 + static_cast<unsigned>(random.below(4));
    const auto delay = FlatMemory::random_delay(seed, 1 + random.below(40));
    std::vector<Log::Issued> issued;
    std::vector<FlatMemory::Seen> seen;
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      SmBench bench(scripts, delay, p, mode);
      bench.code_bytes = std::uint64_t{lines} * kLineBytes;
      ASSERT_EQ(bench.run(2), RunOutcome::quiescent);
      ASSERT_EQ(bench.engine.pool().in_use(), 0U);
      const InstructionFetchCounters& c = bench.sm.fetch_counters();
      ASSERT_EQ(c.requests + c.invalidations, bench.instruction.seen.size());
      ASSERT_EQ(c.requests, c.waits - c.merges + c.prefetches);
      if (mode != TickMode::lazy) {
        ASSERT_EQ(bench.instruction.seen, seen);
        ASSERT_EQ(bench.log.issued.size(), issued.size());
        for (std::size_t i = 0; i < issued.size(); ++i) {
          ASSERT_EQ(bench.log.issued[i].slot, issued[i].slot);
          ASSERT_EQ(bench.log.issued[i].edge, issued[i].edge) << "issue " << i;
        }
        continue;
      }
      issued = bench.log.issued;
      seen = bench.instruction.seen;
      std::size_t behind = 0;  // where in `seen` what follows the last invalidation issued begins
      std::map<unsigned, std::size_t> issued_behind;  // the same, when each warp last issued
      for (const Log::Issued& i : issued) {
        const Instruction& instruction = *i.executed;
        const PhysicalAddress line{SmBench::kCodeBase.value + instruction.pc / kLineBytes * kLineBytes};
        // What the warp was about to issue, or waited for, when another invalidated, it issues; and no more.
        const auto last = issued_behind.find(i.slot);
        const std::size_t first = last == issued_behind.end() || last->second != behind ? 0 : behind;
        ASSERT_TRUE(std::any_of(seen.begin() + static_cast<std::ptrdiff_t>(first), seen.end(),
                                [&](const FlatMemory::Seen& s) {
                                  return s.command == Command::read && s.line == line &&
                                         s.answered + SmBench::kChannel.latency <= i.edge;
                                }))
            << "pc " << instruction.pc << " in cycle " << i.edge;
        if (instruction.kind == InstructionKind::invalidate_instructions)
          while (seen[behind++].command != Command::maintain) continue;
        issued_behind[i.slot] = behind;
      }
    }
  }
}

}  // namespace sm_fetch_test
}  // namespace warpline::test
