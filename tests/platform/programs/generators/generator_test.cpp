#include "platform/programs/generators/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "rtl_models/sm/instruction_source.h"
#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace generator_test {

using ::testing::HasSubstr;

GeneratorParameters parameters(const std::string& kind) {
  GeneratorParameters p;
  p.kind = kind;
  p.base = 0x10000;
  p.footprint = 65536;
  p.stride = kind == "chase" ? 128 : 4;
  p.grid = {4, 1, 1};
  p.block = {64, 1, 1};
  return p;
}

std::vector<Executed> play(const GeneratorParameters& p) {
  const auto kernel = make_generator(p);
  EXPECT_FALSE(kernel->info().carries_data);
  Player player(*kernel);
  std::vector<Executed> all;
  player.on_executed = [&](const Executed& e) { all.push_back(e); };
  player.run();
  return all;
}

std::set<std::uint64_t> lines(const std::vector<Executed>& all) {
  std::set<std::uint64_t> out;
  for (const Executed& e : all) out.insert(e.address[0] / kLineBytes);
  return out;
}

TEST(Generator, StreamTakesEachLineOnceInTurn) {
  const auto all = play(parameters("stream"));
  EXPECT_EQ(all.size(), 512U) << "one sweep";
  EXPECT_EQ(lines(all).size(), 512U);
  // CTA 0 is played first: its two warps take lines 0 and 1, then 8 and 9 of a grid of eight warps.
  EXPECT_EQ(all[0].address[0], 0x10000U);
  EXPECT_EQ(all[0].address[31], 0x10000U + 124);
  EXPECT_EQ(all[1].address[0], 0x10000U + 128);
  EXPECT_EQ(all[2].address[0], 0x10000U + 8 * 128);
  EXPECT_EQ(all[0].instruction.mem.bytes_per_lane(), 4U);
}

TEST(Generator, StreamStartsOverAtTheEnd) {
  GeneratorParameters p = parameters("stream");
  p.accesses = 1032;  // two sweeps and 8
  std::map<std::uint64_t, unsigned> times;
  for (const Executed& e : play(p)) ++times[e.address[0]];
  EXPECT_EQ(times.size(), 512U);
  EXPECT_EQ(times[0x10000], 3U);
  EXPECT_EQ(times[0x10000 + 8 * 128], 2U);
}

TEST(Generator, AccessesAreSplitOverTheWarps) {
  GeneratorParameters p = parameters("stream");
  p.accesses = 43;  // 5 each, and 3
  const auto kernel = make_generator(p);
  const auto source = kernel->make_source({0, 1});
  std::vector<unsigned> shares;
  for (std::uint32_t cta = 0; cta < 4; ++cta)
    for (unsigned warp = 0; warp < 2; ++warp) {
      source->begin_warp(0, {cta, 0, 0}, warp, 0xFFFFFFFFU);
      unsigned n = 0;
      MemoryAccess access;
      for (; source->state(0) == WarpState::runnable; ++n) {
        Issue issue;
        issue.access = &access;
        source->execute(0, issue);
      }
      shares.push_back(n);
    }
  EXPECT_EQ(shares, (std::vector<unsigned>{6, 6, 6, 5, 5, 5, 5, 5}));
}

TEST(Generator, LoadsOfAWarpAreIndependentForSixteen) {
  GeneratorParameters p = parameters("stream");
  p.grid = {1, 1, 1};
  p.block = {32, 1, 1};
  const auto all = play(p);
  std::set<unsigned> registers;
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(all[i].instruction.source_count, 0);
    registers.insert(all[i].instruction.registers[0]);
  }
  EXPECT_EQ(registers.size(), 16U);
  EXPECT_EQ(all[16].instruction.registers[0], all[0].instruction.registers[0]);
}

TEST(Generator, StridedLanesLieApart) {
  GeneratorParameters p = parameters("strided");
  p.stride = 128;
  const auto all = play(p);
  EXPECT_EQ(all.size(), 16U);
  EXPECT_EQ(all[0].address[1] - all[0].address[0], 128U);
  std::set<std::uint64_t> words;
  for (const Executed& e : all) words.insert(e.address.begin(), e.address.end());
  EXPECT_EQ(words.size(), 512U) << "each once";
}

TEST(Generator, RandomStaysInsideAndRepeatsWithItsSeed) {
  GeneratorParameters p = parameters("random");
  p.accesses = 100;
  const auto first = play(p), again = play(p);
  ASSERT_EQ(first.size(), 100U);
  std::set<std::uint64_t> words;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].address, again[i].address);
    for (const std::uint64_t a : first[i].address) {
      EXPECT_GE(a, p.base);
      EXPECT_LE(a + 4, p.base + p.footprint);
      EXPECT_EQ(a % 4, 0U);
      words.insert(a);
    }
  }
  EXPECT_GT(words.size(), 2700U) << "3200 draws from 16384 words";
  p.seed = 2;
  EXPECT_NE(play(p)[0].address, first[0].address);
}

TEST(Generator, ReuseSweepsInEveryWarp) {
  GeneratorParameters p = parameters("reuse");
  p.footprint = 1024;
  const auto sweep = play(p);
  EXPECT_EQ(sweep.size(), 8U * 8) << "each warp once";
  p.accesses = 160;
  std::map<std::uint64_t, unsigned> times;
  for (const Executed& e : play(p)) ++times[e.address[0]];
  EXPECT_EQ(times.size(), 8U);
  EXPECT_EQ(times[0x10000], 8U * 3);
  EXPECT_EQ(times[0x10000 + 7 * 128], 8U * 2);
}

TEST(Generator, ChaseVisitsEveryNodeOncePerRound) {
  const GeneratorParameters p = parameters("chase");
  const auto all = play(p);
  ASSERT_EQ(all.size(), 512U) << "one round";
  std::set<std::uint64_t> nodes;
  for (const Executed& e : all) {
    EXPECT_EQ(e.warp, 0U);
    EXPECT_EQ(e.accessed, 1U);
    EXPECT_EQ(e.instruction.mem.bytes_per_lane(), 8U);
    EXPECT_EQ((e.address[0] - p.base) % 128, 0U);
    EXPECT_LT(e.address[0] - p.base, p.footprint);
    nodes.insert(e.address[0]);
  }
  EXPECT_EQ(nodes.size(), 512U);
}

TEST(Generator, ChaseGoesRoundAgainAndDependsOnItsSeed) {
  GeneratorParameters p = parameters("chase");
  p.accesses = 1024;
  const auto all = play(p);
  ASSERT_EQ(all.size(), 1024U);
  for (std::size_t i = 0; i < 512; ++i) EXPECT_EQ(all[i].address[0], all[i + 512].address[0]);
  p.seed = 7;
  const auto other = play(p);
  unsigned same = 0;
  for (std::size_t i = 0; i < 512; ++i) same += all[i].address[0] == other[i].address[0] ? 1 : 0;
  EXPECT_LT(same, 32U);
}

TEST(Generator, ChaseWaitsForEachLoad) {
  const Instruction i = play(parameters("chase"))[0].instruction;
  ASSERT_EQ(i.source_count, 1);
  ASSERT_EQ(i.destination_count, 1);
  EXPECT_EQ(i.registers[0], i.registers[1]);
}

TEST(Generator, OneNodeIsAChaseToo) {
  GeneratorParameters p = parameters("chase");
  p.footprint = 128;
  p.accesses = 3;
  EXPECT_EQ(lines(play(p)).size(), 1U);
}

TEST(Generator, AllFaultsAtOnce) {
  GeneratorParameters p;
  p.kind = "chaise";
  p.base = 3;
  p.grid = {0, 1, 1};
  p.block = {1024, 2, 1};
  std::map<std::string, std::string> faults;
  for (const Problem& problem : p.problems("launch")) faults[problem.path] = problem.message;
  EXPECT_THAT(faults["launch.generator"], HasSubstr("did you mean 'chase'?"));
  EXPECT_THAT(faults["launch.base"], HasSubstr("multiple of 4"));
  EXPECT_THAT(faults["launch.footprint"], HasSubstr("at least 1 byte"));
  EXPECT_EQ(faults.count("launch.grid"), 1U);
  EXPECT_EQ(faults.count("launch.block"), 1U);
}

TEST(Generator, RulesOfEachKind) {
  const auto fault = [](const GeneratorParameters& p) {
    const Problems found = p.problems("g");
    return found.empty() ? std::string() : found.front().path + ": " + found.front().message;
  };
  for (const char* kind : {"stream", "strided", "random", "chase", "reuse"})
    EXPECT_EQ(fault(parameters(kind)), "") << kind;
  GeneratorParameters p = parameters("chase");
  p.stride = 4;
  EXPECT_THAT(fault(p), HasSubstr("g.stride: must be a positive multiple of 8"));
  p.stride = 0;
  EXPECT_THAT(fault(p), HasSubstr("g.stride: must be a positive multiple of 8"));
  p.stride = 8;
  p.footprint = std::uint64_t{1} << 35U;
  EXPECT_THAT(fault(p), HasSubstr("g.footprint: must hold 1 to 2^31 nodes"));
  p.footprint = 7;
  EXPECT_THAT(fault(p), HasSubstr("g.footprint: must hold 1 to 2^31 nodes"));
  p = parameters("strided");
  p.stride = 6;
  EXPECT_THAT(fault(p), HasSubstr("g.stride: must be a positive multiple of 4"));
  p.stride = 4096;
  EXPECT_THAT(fault(p), HasSubstr("g.footprint: must hold the accesses of one warp"));
  p = parameters("stream");
  p.footprint = 127;
  EXPECT_THAT(fault(p), HasSubstr("g.footprint: must hold the accesses of one warp"));
  p.footprint = 128;
  EXPECT_EQ(fault(p), "");
  p.stride = 8;
  EXPECT_THAT(fault(p), HasSubstr("g.stride: has a meaning for strided and chase only"));
  p = parameters("random");
  p.base = ~std::uint64_t{3};
  EXPECT_THAT(fault(p), HasSubstr("end below 2^64"));
}

}  // namespace generator_test
}  // namespace warpline::test
