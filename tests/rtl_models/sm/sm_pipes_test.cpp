// Arithmetic pipes: how long instructions take them, who waits and who does not, and their latencies.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/arithmetic_pipes.h"
#include "tests/rtl_models/sm/script.h"
#include "tests/support/random_pipes.h"

namespace warpline::test {
namespace sm_pipes_test {

Step to(PipeClass pipe, std::uint8_t latency = 1, const std::vector<std::uint16_t>& sources = {},
        const std::vector<std::uint16_t>& destinations = {}, std::uint8_t passes = 1) {
  Step s = alu(latency, sources, destinations);
  s.instruction.pipe = pipe;
  s.instruction.passes = passes;
  return s;
}

TEST(SmPipes, ANarrowPipeIsTakenForSeveralCyclesAndOthersIssueMeanwhile) {
  SmParameters p;
  p.partitions = 4;
  p.pipes.f32_per_cycle = 64;  // a warp in 2 cycles
  p.pipes.f64_per_cycle = 2;   // in 64
  p.pipes.f32_latency = 6;
  std::vector<std::vector<Step>> scripts(5, std::vector<Step>{alu(1)});
  scripts[0] = {to(PipeClass::f64), to(PipeClass::f64), to(PipeClass::f32, 1, {}, {3}), alu(1, {3})};
  scripts[1] = {to(PipeClass::f32), to(PipeClass::integer), to(PipeClass::f32), to(PipeClass::f32)};
  scripts[4] = {to(PipeClass::integer), to(PipeClass::f64)};
  SmBench bench(scripts, SmBench::fixed(1), p);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  const Log& log = bench.log;
  const std::uint64_t t = log.edge_of(0, 0);
  EXPECT_EQ(log.edge_of(4, 0), t + 1) << "another pipe of the partition";
  EXPECT_EQ(std::min(log.edge_of(0, 1), log.edge_of(4, 1)), t + 64) << "whoever comes next";
  EXPECT_EQ(std::max(log.edge_of(0, 1), log.edge_of(4, 1)), t + 128);
  EXPECT_EQ(log.edge_of(0, 3), log.edge_of(0, 2) + 6) << "the preset's latency";
  EXPECT_EQ(log.edge_of(1, 0), t) << "another partition";
  EXPECT_EQ(log.edge_of(1, 1), t + 1) << "a pipe that is not limited";
  EXPECT_EQ(log.edge_of(1, 2), t + 2) << "free again";
  EXPECT_EQ(log.edge_of(1, 3), t + 4) << "taken";
}

TEST(SmPipes, WhatBecomesSeveralInstructionsTakesItsPipeAsOftenAndHasItsOwnLatency) {
  SmParameters p;
  p.partitions = 1;
  p.pipes.integer_per_cycle = 16;
  p.pipes.integer_latency = 9;
  SmBench bench({{to(PipeClass::integer, 7, {}, {1}, 3), alu(1, {1}), to(PipeClass::integer)},
                 {to(PipeClass::integer)}},
                SmBench::fixed(1), p);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  const std::uint64_t t = bench.log.edge_of(0, 0);
  EXPECT_EQ(bench.log.edge_of(0, 1), t + 7);
  EXPECT_EQ(bench.log.edge_of(1, 0), t + 6);
  EXPECT_EQ(bench.log.edge_of(0, 2), t + 8);
}

TEST(SmPipes, TheShortClockHasALatencyOfItsOwnAndHoldsUpItsWarp) {
  const auto edges = [](unsigned latency, unsigned cycles) {
    SmParameters p;
    p.clock_latency = latency;
    p.clock_cycles = cycles;
    Step clock = alu(14, {}, {1});
    clock.instruction.reads_time = clock.instruction.reads_short_clock = true;
    SmBench bench({{clock, alu(1), alu(1, {1})}}, SmBench::fixed(1), p);
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
    const std::uint64_t t = bench.log.edge_of(0, 0);
    return std::pair{bench.log.edge_of(0, 1) - t, bench.log.edge_of(0, 2) - t};
  };
  EXPECT_EQ(edges(40, 1), std::pair(std::uint64_t{1}, std::uint64_t{40}));
  EXPECT_EQ(edges(40, 33), std::pair(std::uint64_t{33}, std::uint64_t{40}));
  EXPECT_EQ(edges(0, 33), std::pair(std::uint64_t{1}, std::uint64_t{14})) << "as the program assumes";
}

/// The rules, cycle by cycle: a warp's instruction issues when its registers are there and its pipe is free;
/// each partition issues one per cycle, in turn.
struct Twin {
  struct Pipe {
    std::uint64_t taken = 0, free = 0;
  };
  std::vector<std::vector<std::uint64_t>> edges;
  std::uint64_t taken = 0, waited = 0;

  Twin(const std::vector<std::vector<Step>>& scripts, const SmParameters& p, std::uint64_t start) {
    std::vector<unsigned> rates{0}, latencies{0};
    p.pipes.each([&](unsigned rate, unsigned latency) {
      rates.push_back(rate);
      latencies.push_back(latency);
    });
    edges.resize(scripts.size());
    std::vector<std::vector<std::uint64_t>> registers(scripts.size(), std::vector<std::uint64_t>(8, 0));
    std::vector<unsigned> turn(p.partitions, 0);
    std::vector<std::vector<Pipe>> pipes(p.partitions, std::vector<Pipe>(rates.size()));
    std::size_t left = 0;
    for (const auto& script : scripts) left += script.size();
    for (std::uint64_t edge = start; left != 0; ++edge) {
      for (unsigned partition = 0; partition < p.partitions; ++partition) {
        for (unsigned n = 0; n < 64; ++n) {
          const unsigned slot = (turn[partition] + n) % 64;
          if (slot % p.partitions != partition || slot >= scripts.size()) continue;
          if (edges[slot].size() == scripts[slot].size()) continue;
          const Instruction& i = scripts[slot][edges[slot].size()].instruction;
          std::uint64_t ready = edges[slot].empty() ? start : edges[slot].back() + 1;
          for (unsigned r = 0; r < unsigned{i.source_count} + i.destination_count; ++r)
            ready = std::max(ready, registers[slot][i.registers[r]]);
          const auto c = static_cast<std::size_t>(i.pipe);
          Pipe& pipe = pipes[partition][c];
          if (ready > edge || pipe.free > edge) continue;
          for (std::uint64_t x = pipe.taken + 1; x < pipe.free; ++x) waited += x >= ready;
          if (rates[c] != 0) {
            const unsigned per_warp = (32 * p.partitions + rates[c] - 1) / rates[c];
            pipe = {edge, edge + std::uint64_t{per_warp} * i.passes};
            taken += pipe.free - pipe.taken;
          }
          const unsigned latency = latencies[c] != 0 && i.passes == 1 ? latencies[c] : i.latency;
          for (unsigned r = i.source_count; r < unsigned{i.source_count} + i.destination_count; ++r)
            registers[slot][i.registers[r]] = edge + latency;
          edges[slot].push_back(edge);
          --left;
          turn[partition] = slot + 1;
          break;
        }
      }
    }
  }
};

TEST(SmPipes, IssuesAsTheRulesSayInEveryTickMode) {
  Random random(20260);
  for (unsigned round = 0; round < 60; ++round) {
    SmParameters p;
    p.partitions = std::vector<unsigned>{1, 2, 3, 4, 16}[random.below(5)];
    draw_pipes(random, p.pipes);
    std::vector<std::vector<Step>> scripts(1 + random.below(9));
    for (auto& script : scripts) {
      const std::size_t length = 1 + random.below(12);
      for (std::size_t n = 0; n < length; ++n) {
        const auto pipe = static_cast<PipeClass>(random.below(kPipeClasses));
        const auto reg = [&] { return static_cast<std::uint16_t>(random.below(4)); };
        script.push_back(to(pipe, static_cast<std::uint8_t>(1 + random.below(9)), {reg()},
                            {static_cast<std::uint16_t>(4 + random.below(4))},
                            static_cast<std::uint8_t>(1 + (random.below(5) == 0))));
        if (random.below(2) == 0) script.back().instruction.registers[0] = 4;
      }
    }
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      SmBench bench(scripts, SmBench::fixed(1), p, mode);
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      std::uint64_t start = ~std::uint64_t{0};
      for (const Log::Issued& i : bench.log.issued) start = std::min(start, i.edge);
      const Twin twin(scripts, p, start);
      for (unsigned slot = 0; slot < scripts.size(); ++slot)
        for (std::size_t n = 0; n < scripts[slot].size(); ++n)
          ASSERT_EQ(bench.log.edge_of(slot, n), twin.edges[slot][n])
              << "round " << round << ", warp " << slot << ", instruction " << n;
      EXPECT_EQ(bench.sm.counters().pipe_cycles, twin.taken);
      EXPECT_EQ(bench.sm.counters().pipe_wait_cycles, twin.waited);
      EXPECT_LE(bench.sm.counters().pipe_wait_cycles, bench.sm.counters().pipe_cycles);
    }
  }
}

}  // namespace sm_pipes_test
}  // namespace warpline::test
