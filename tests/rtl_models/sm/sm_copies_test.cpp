// Asynchronous copies on an SM: what they move, who waits for them and who does not.
#include <gtest/gtest.h>

#include "rtl_models/sm/copy_groups.h"
#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_copies_test {

constexpr std::uint64_t kSource = 0x1000, kSourceLine = 0x8000;
constexpr auto kNone = ~std::uint64_t{0};

Step commit() {
  Step s;
  s.instruction.kind = InstructionKind::commit_copies;
  return s;
}
Step wait(std::uint32_t groups_left) {
  Step s;
  s.instruction.kind = InstructionKind::wait_copies;
  s.instruction.groups_left = groups_left;
  return s;
}
/// Each lane of `active` copies `bytes` bytes from `from` to `to`, lane after lane, and reads `read` of them.
Step copy(std::uint64_t from, std::uint32_t to, unsigned bytes, unsigned read,
          LaneMask active = ~LaneMask{0}) {
  Step s = memory(MemKind::async_copy, Space::global, DataType::b32, [=](MemoryAccess& a) {
    a.active = active;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      a.address[lane] = from + std::uint64_t{lane} * bytes;
      a.second[lane] = CopyTarget{to + lane * bytes, read}.packed();
    }
  });
  s.instruction.mem.vector = static_cast<std::uint8_t>(bytes / 4);
  s.instruction.mem.fills = read != bytes;
  return s;
}
Step copy(unsigned bytes = 4) {
  return copy(kSource, 0, bytes, bytes);
}
Step read_shared(std::uint32_t from, unsigned bytes) {
  Step s = memory(MemKind::load, Space::shared, DataType::b32, strided(from, bytes), {1});
  s.instruction.mem.vector = static_cast<std::uint8_t>(bytes / 4);
  return s;
}
Step load() {
  return memory(MemKind::load, Space::global, DataType::b32, strided(kSource, 4), {1});
}

TEST(CopyGroups, AreThoseOfANaiveList) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    CopyGroups groups;
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        under_way;  // the group as it is told, as it is counted
    std::uint32_t committed = 0;
    for (unsigned k = 0; k < 200; ++k) {
      const auto what = random.below(3);
      if (what == 0) {
        under_way.emplace_back(groups.start(), committed);
      } else if (what == 1) {
        groups.commit();
        ++committed;
      } else if (!under_way.empty()) {
        const std::size_t n = random.below(under_way.size());
        groups.finish(under_way[n].first);
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(n));
      }
      for (std::uint32_t left = 0; left < 4; ++left) {
        bool may_pass = true;
        for (const auto& [told, counted] : under_way) may_pass &= counted + left >= committed;
        ASSERT_EQ(groups.may_pass(left), may_pass) << "seed " << seed << " step " << k << " left " << left;
      }
      ASSERT_EQ(groups.may_pass(CopyGroups::kWaitForAll), under_way.empty());
      ASSERT_EQ(groups.under_way(), under_way.size());
    }
  }
}

TEST(SmCopies, AWaitIssuesWhenALoadOfTheSameCouldBeRead) {
  SmBench loads({{load(), alu(1), alu(1, {1})}}, SmBench::fixed(100));
  ASSERT_EQ(loads.run(), RunOutcome::quiescent);
  for (const std::uint32_t left : {std::uint32_t{0}, CopyGroups::kWaitForAll}) {
    SmBench copies({{copy(), commit(), wait(left)}}, SmBench::fixed(100));
    ASSERT_EQ(copies.run(), RunOutcome::quiescent);
    EXPECT_EQ(copies.log.edge_of(0, 1), loads.log.edge_of(0, 1)) << "a copy does not hold its warp";
    EXPECT_EQ(copies.log.edge_of(0, 2), loads.log.edge_of(0, 2));
    EXPECT_EQ(copies.sm.lsu_counters().global_requests, 1U);
    EXPECT_EQ(copies.sm.lsu_counters().global_sectors, 4U);
  }
}

TEST(SmCopies, AWaitLeavesTheLastGroupsUnderWay) {
  // The first copy is answered late, the second later still.
  const auto delay = [](const Request&, std::size_t n) { return Cycle{200} + 300 * n; };
  const auto edge_of_wait = [&](const std::vector<Step>& before, std::uint32_t left) {
    std::vector<Step> script = before;
    script.push_back(wait(left));
    SmBench bench({script}, delay);
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
    return bench.log.edge_of(0, before.size());
  };
  const std::vector<Step> two_groups = {copy(), commit(), copy(), commit()};
  EXPECT_LT(edge_of_wait(two_groups, 2), 200U);
  EXPECT_GT(edge_of_wait(two_groups, 1), 200U);
  EXPECT_LT(edge_of_wait(two_groups, 1), 500U);
  EXPECT_GT(edge_of_wait(two_groups, 0), 500U);
  const std::vector<Step> uncommitted = {copy(), commit(), copy()};
  EXPECT_LT(edge_of_wait(uncommitted, 0), 500U) << "what no commit follows is in no group";
  EXPECT_GT(edge_of_wait(uncommitted, CopyGroups::kWaitForAll), 500U);
  const std::vector<Step> empty_group = {copy(), commit(), commit()};
  EXPECT_LT(edge_of_wait(empty_group, 2), 200U);
  EXPECT_GT(edge_of_wait(empty_group, 1), 200U) << "an empty group counts";
}

TEST(SmCopies, BarriersFencesAndLoadsDoNotWaitForCopies) {
  for (const Step& s : {barrier({0, 0, true}), fence(Semantics::acq_rel, Scope::cta), alu(1)}) {
    SmBench bench({{copy(), s, alu(1)}}, SmBench::fixed(300));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_LT(bench.log.edge_of(0, 2), 50U);
  }
}

TEST(SmCopies, AWarpEndsWhenItsCopiesHave) {
  // The next CTA has the same part of shared memory, zero again.
  SmBench bench({{read_shared(0, 4), fence(Semantics::acq_rel, Scope::cta), copy()}}, SmBench::fixed(300));
  for (std::uint8_t& b : bench.l1.lines[kSourceLine]) b = 0x5A;
  ASSERT_EQ(bench.run(2), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.counters().ctas, 2U);
  EXPECT_EQ(bench.log.loaded.at({0, 0}).data[0], 0);
  std::uint64_t second = 0;
  for (const Log::Issued& i : bench.log.issued)
    if (i.step == 0) second = i.edge;
  EXPECT_GT(second, 300U);
}

TEST(SmCopies, FaultsAreThoseOfBothSides) {
  struct Row {
    const char* what;
    Step step;
    std::optional<FaultKind> fault;
    std::uint64_t address;
  };
  const LaneMask first = 1;
  const std::uint64_t end = 0x3000 + 288;  // twelve bytes before the end of what is mapped
  for (const Row& row :
       {Row{"target misaligned", copy(kSource, 4, 8, 8), FaultKind::misaligned, 4},
        Row{"target out of range", copy(kSource, 1024 - 31 * 16, 16, 16), FaultKind::shared_range, 1024},
        Row{"source misaligned", copy(kSource + 4, 0, 8, 8), FaultKind::misaligned, kSource + 4},
        Row{"source unmapped", copy(0x9000, 0, 16, 16), FaultKind::unmapped, 0x9000},
        Row{"source unmapped, one byte read", copy(0x9000, 0, 16, 1), FaultKind::unmapped, 0x9000},
        Row{"source unmapped, unread", copy(0x9000, 0, 16, 0), std::nullopt, 0},
        Row{"past the end", copy(end, 0, 16, 13, first), FaultKind::unmapped, end},
        Row{"up to the end", copy(end, 0, 16, 12, first), std::nullopt, 0}}) {
    SCOPED_TRACE(row.what);
    SmBench bench({{row.step, wait(CopyGroups::kWaitForAll), alu(1)}});
    bench.space.map({0x3000, 300, physical(Aperture::vidmem, 0x9000), 0});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_EQ(bench.sm.faults().size(), row.fault ? 1U : 0U);
    EXPECT_EQ(bench.log.edge_of(0, 2) == kNone, row.fault.has_value()) << "a fault ends the warp";
    if (!row.fault) continue;
    EXPECT_EQ(bench.sm.faults()[0].fault.kind, *row.fault);
    EXPECT_EQ(bench.sm.faults()[0].fault.address, row.address);
    EXPECT_TRUE(bench.l1.seen.empty());
  }
}

TEST(SmCopies, OfAWarpThatFaultedWriteNothing) {
  const Step bad = memory(MemKind::load, Space::global, DataType::b32, strided(0x9000, 4), {2});
  SmBench bench(
      {{copy(), bad}, {alu(250, {}, {3}), alu(200, {3}, {3}), alu(1, {3}), read_shared(0, 4), alu(1, {1})}},
      SmBench::fixed(300));
  for (std::uint8_t& b : bench.l1.lines[kSourceLine]) b = 0x5A;
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.faults().size(), 1U);
  EXPECT_GT(bench.log.edge_of(1, 3), 320U);
  EXPECT_EQ(bench.log.loaded.at({1, 3}).data[0], 0);
}

TEST(SmCopies, AStandstillSaysThatAWarpWaitsForThem) {
  SmBench bench({{copy(), copy(), commit(), wait(0)}}, SmBench::fixed(1000000000));
  ASSERT_EQ(bench.run(), RunOutcome::cycle_limit);
  std::vector<Wait> waits;
  bench.sm.explain(waits);
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits[0].what, "2 asynchronous copies under way, before pc 0 (CTA 0,0,0)");
}

/// A script of copies, commits, waits and reads of what has surely landed; `want` gets what these must read.
class RandomPipeline {
 public:
  RandomPipeline(Random& random, unsigned part, unsigned parts, const std::vector<std::uint8_t>& source)
      : random_(random), source_(source), bytes_(4U << random.below(3)) {
    const unsigned part_bytes = 1024 / parts;
    for (unsigned at = 0; at + bytes_ * kWarpLanes <= part_bytes; at += bytes_ * kWarpLanes)
      stages_.push_back({part * part_bytes + at, {}, 0, true, false});
    for (unsigned k = 0; k < 60; ++k) step();
    script.push_back(alu(1, {1}));
  }
  std::vector<Step> script;
  std::map<std::size_t, std::vector<std::uint8_t>>
      want;  ///< by step: bytes of each lane, one after the other
  [[nodiscard]] unsigned bytes() const { return bytes_; }

 private:
  struct Stage {
    std::uint32_t at;
    std::vector<std::uint8_t> content;
    std::uint32_t group;
    bool landed, used;
  };
  void step() {
    if (stages_.empty()) return;
    Stage& s = stages_[random_.below(stages_.size())];
    switch (random_.below(5)) {
      case 0:
      case 1: start(s); break;
      case 2:
        script.push_back(commit());
        ++committed_;
        break;
      case 3: {
        const bool all = random_.below(4) == 0;
        const auto left = static_cast<std::uint32_t>(random_.below(3));
        script.push_back(wait(all ? CopyGroups::kWaitForAll : left));
        for (Stage& t : stages_) t.landed |= all || t.group + left < committed_;
        break;
      }
      default:
        if (!s.landed || !s.used) return;
        want[script.size()] = s.content;
        script.push_back(read_shared(s.at, bytes_));
    }
  }
  void start(Stage& s) {
    if (!s.landed) return;
    const unsigned read = static_cast<unsigned>(random_.below(2) == 0 ? bytes_ : random_.below(bytes_ + 1));
    const LaneMask active = random_.below(2) == 0 ? ~LaneMask{0} : static_cast<LaneMask>(random_.next());
    if (active == 0) return;
    const std::uint64_t from =
        random_.below((source_.size() - std::size_t{bytes_} * kWarpLanes) / bytes_) * bytes_;
    s.content.resize(std::size_t{bytes_} * kWarpLanes);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      for (unsigned b = 0; b < bytes_ && (active >> lane & 1U) != 0; ++b)
        s.content[lane * bytes_ + b] = b < read ? source_[from + lane * bytes_ + b] : std::uint8_t{0};
    // What is read of the stage must have been read before it is written again.
    script.push_back(fence(Semantics::acq_rel, Scope::cta));
    script.push_back(copy(kSource + from, s.at, bytes_, read, active));
    s.group = committed_;
    s.landed = false;
    s.used = true;
  }
  Random& random_;
  const std::vector<std::uint8_t>& source_;
  unsigned bytes_;
  std::vector<Stage> stages_;
  std::uint32_t committed_ = 0;
};

void fuzz(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed * 313);
  std::vector<std::uint8_t> source(2048);
  for (std::uint8_t& b : source) b = static_cast<std::uint8_t>(random.next());
  const auto warps = 1U << random.below(3);
  std::vector<RandomPipeline> pipelines;
  std::vector<std::vector<Step>> scripts;
  for (unsigned w = 0; w < warps; ++w) {
    pipelines.emplace_back(random, w, warps, source);
    scripts.push_back(pipelines.back().script);
  }
  SmParameters p;
  p.lsu_entries = static_cast<unsigned>(1 + random.below(12));
  p.lsu_queue = static_cast<unsigned>(1 + random.below(p.lsu_entries));
  p.writeback_latency = static_cast<unsigned>(random.below(4));
  const FlatMemory::Delay delay = FlatMemory::random_delay(seed, 1 + random.below(200));
  std::vector<std::uint64_t> edges;
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    SmBench bench(scripts, delay, p, mode);
    for (std::size_t b = 0; b < source.size(); ++b)
      bench.l1.lines[kSourceLine + b / kLineBytes * kLineBytes][b % kLineBytes] = source[b];
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_TRUE(bench.sm.faults().empty()) << bench.sm.faults()[0].kind;
    std::vector<std::uint64_t> these;
    for (const Log::Issued& i : bench.log.issued) these.push_back(i.edge);
    if (mode == TickMode::lazy) edges = these;
    ASSERT_EQ(these, edges);
    for (unsigned w = 0; w < warps; ++w) {
      const unsigned bytes = pipelines[w].bytes();
      for (const auto& [step, content] : pipelines[w].want)
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          ASSERT_EQ(std::memcmp(&bench.log.loaded.at({w, step}).data[lane * LaneBuffers::kMaxLaneBytes],
                                &content[std::size_t{lane} * bytes], bytes),
                    0)
              << "warp " << w << " step " << step << " lane " << lane;
    }
  }
}

TEST(SmCopies, RandomPipelinesReadWhatTheyCopied) {
  for (std::uint64_t seed = 1; seed <= 150 && !HasFatalFailure(); ++seed) fuzz(seed);
}

}  // namespace sm_copies_test
}  // namespace warpline::test
