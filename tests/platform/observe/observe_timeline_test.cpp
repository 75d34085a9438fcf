// A timeline, read by an independent reader, shows the whole way of every request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/random_machine.h"
#include "tests/platform/observe/observed_run.h"
#include "tests/support/timeline_reader.h"
#include "tests/support/vcd_reader.h"

namespace warpline::test {
namespace observe_timeline_test {

class Ways {
 public:
  explicit Ways(const Timeline& t) {
    for (const TimelineSlice& s : t.slices)
      if (s.parent == -1) of_[s.id].push_back(&s);
  }
  /// The request that a block of kind `block` was sent within `outer`, on its behalf; null if there is none.
  [[nodiscard]] const TimelineSlice* received(const TimelineSlice& outer, const std::string& block,
                                              const std::string& command) const {
    for (const TimelineSlice* s : of_.at(outer.id))
      if (s->received() && s->command == command && s->block.find(block) != std::string::npos &&
          outer.begin <= s->begin && s->end <= outer.end)
        return s;
    return nullptr;
  }

 private:
  std::map<std::uint64_t, std::vector<const TimelineSlice*>> of_;
};

bool is_sm(const std::string& block) {
  return block.rfind("sm[", 0) == 0 && block.find('.') == std::string::npos;
}
bool is_slice(const std::string& block) {
  return block.rfind("l2[", 0) == 0;
}

/// Every request that a block sends is in the block next to it for as long as its answer takes.
void expect_complete(const Timeline& t, const std::string& what) {
  const Ways ways(t);
  for (const TimelineSlice& s : t.slices) {
    EXPECT_FALSE(s.unfinished) << what;
    if (!s.sent()) continue;
    const TimelineSlice* next = nullptr;
    if (is_slice(s.block)) {
      next = ways.received(s, "dram[", s.command);
      if (next == nullptr) next = ways.received(s, "pcie", s.command);
    } else {
      next = ways.received(s, is_sm(s.block) ? "sm[" : s.block == "crossbar" ? "l2[" : "crossbar", s.command);
    }
    ASSERT_NE(next, nullptr) << what << ": request " << s.id << " sent by " << s.block << " arrives nowhere";
    if (next->block != "crossbar" || s.command == "maintain") continue;
    ASSERT_NE(ways.received(*next, "l2[", s.command), nullptr)
        << what << ": request " << s.id << " of " << s.block << " reaches no slice";
  }
}

TEST(Timeline, EveryRequestsWayIsComplete) {
  for (const char* kernel : {"matmul", "histogram", "reduce", "spmv"}) {
    const Watched run = watch_kernel(preset("mini"), kernel, false, {});
    const Timeline t = parse_timeline(run.timeline);
    expect_complete(t, kernel);
    // What the blocks were sent is what they counted.
    std::uint64_t crossbar = 0, dram = 0, sent_by_sm = 0, answered = 0;
    for (const TimelineSlice& s : t.slices) {
      crossbar += s.received() && s.block == "crossbar";
      dram += s.received() && s.block.rfind("dram[", 0) == 0;
      sent_by_sm += s.sent() && is_sm(s.block);
      answered += s.parent != -1 && is_sm(s.block);
    }
    EXPECT_EQ(crossbar, run.counters.at("crossbar.request_messages")) << kernel;
    EXPECT_EQ(dram, sum(run, "dram[", ".reads") + sum(run, "dram[", ".writes")) << kernel;
    EXPECT_GT(sent_by_sm, 0U);
    EXPECT_EQ(answered, sent_by_sm) << kernel;
    EXPECT_THAT(t.kernels, testing::Not(testing::IsEmpty()));
  }
}

TEST(Timeline, RandomMachinesKeepItsRules) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    const GpuConfig config = random_machine(random);
    const Watched run = watch_generators(config, seed, {});
    const Timeline t = parse_timeline(run.timeline);
    expect_complete(t, "seed " + std::to_string(seed));
    EXPECT_EQ(t.kernels.size(), 5U);
  }
}

TEST(Timeline, AMissIsOneFlowFromTheSmToDramAndBack) {
  const Timeline t = parse_timeline(watch_kernel(preset("mini"), "vecadd", false, {}).timeline);
  std::size_t to_dram = 0;
  for (const auto& [id, steps] : t.flows) {
    std::vector<std::string> kinds;
    for (const unsigned i : steps) {
      const TimelineSlice& s = t.slices[i];
      EXPECT_EQ(s.id, id);
      std::string kind = s.block.substr(0, s.block.find('['));
      if (const std::size_t dot = s.block.find('.'); dot != std::string::npos) kind = s.block.substr(dot + 1);
      kinds.push_back(kind);
    }
    if (std::find(kinds.begin(), kinds.end(), "dram") == kinds.end() || kinds.front() != "sm") continue;
    ++to_dram;
    EXPECT_THAT(
        kinds, testing::ElementsAre("sm", testing::AnyOf("l1_lg", "texture", "constant", "instruction"),
                                    testing::AnyOf("l1_lg", "texture", "constant", "instruction"), "crossbar",
                                    "l2", "l2", "dram", "sm"));
  }
  EXPECT_GT(to_dram, 10U);
}

TEST(Timeline, TimeOnChannelsIsWhatTheWaveHolds) {
  // Two files, two ways: the time that messages spend on a channel is the sum of how many were on it.
  const Watched run = watch_kernel(preset("mini"), "spmv", false, {});
  const Timeline t = parse_timeline(run.timeline);
  const Vcd vcd = parse_vcd(run.wave);
  std::map<std::string, std::uint64_t> on;
  for (const TimelineSlice& s : t.slices)
    if (s.parent != -1) on["gpu." + s.block + "." + s.name] += s.end - s.begin;
  EXPECT_GT(on.size(), 20U);
  for (const auto& [channel, cycles] : on) {
    EXPECT_EQ(vcd.of(channel + ".occupancy").integral(vcd.end), cycles * 1000) << channel;
  }
}

TEST(Timeline, AProbeBoundsTheRowsAndAWindowTheTime) {
  Watch how;
  how.probes = {"l2[0]*"};
  const GpuConfig config = preset("mini");
  const Watched whole = watch_kernel(config, "reduce", false, {});
  const Timeline all = parse_timeline(whole.timeline);
  const Timeline slice = parse_timeline(watch_kernel(config, "reduce", false, how).timeline);
  EXPECT_THAT(slice.blocks, testing::ElementsAre("l2[0]"));
  const auto count = [](const Timeline& t) {
    return std::count_if(t.slices.begin(), t.slices.end(), [](const auto& s) { return s.block == "l2[0]"; });
  };
  EXPECT_EQ(count(slice), count(all));
  EXPECT_GT(count(all), 0);
  how.probes.clear();
  how.window = {400, 900};
  const Timeline part = parse_timeline(watch_kernel(config, "reduce", false, how).timeline);
  EXPECT_LT(part.slices.size(), all.slices.size());
  EXPECT_GT(part.slices.size(), 100U);
  for (const TimelineSlice& s : part.slices) {
    EXPECT_GE(s.begin, 400U);
    EXPECT_LE(s.end, 901U);
  }
}

TEST(Timeline, WhatACutOffRunLeavesIsMarked) {
  Watch how;
  how.max_cycles = 800;
  const Watched run = watch_kernel(preset("mini"), "matmul", false, how);
  const Timeline t = parse_timeline(run.timeline);
  EXPECT_TRUE(std::any_of(t.slices.begin(), t.slices.end(), [](const auto& s) { return s.unfinished; }));
}

}  // namespace observe_timeline_test
}  // namespace warpline::test
