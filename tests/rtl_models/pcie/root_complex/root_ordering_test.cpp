#include <gtest/gtest.h>

#include <cstring>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/pcie/root_complex/bench_of_root.h"

namespace warpline {
namespace root_ordering_test {

using test::BenchOfRoot;

/// A device writes data, then a flag that says which; an observer looks at memory in every cycle.
class Publication {
 public:
  Publication(std::uint64_t seed, bool relaxed_flag) : random_(seed) {
    parameters_.memory_channels = 1 + static_cast<unsigned>(random_.below(8));
    parameters_.channel_distance = static_cast<unsigned>(random_.below(60));
    bench_ = std::make_unique<BenchOfRoot>(1, parameters_);
    for (unsigned round = 1; round <= kRounds; ++round) {
      const std::uint64_t data = 4096 * (1 + random_.below(200)) + 256 * round;
      data_.push_back(data);
      Tlp& write = bench_->device(0).send(1, TlpKind::memory_write, data, 64);
      write.data[0] = static_cast<std::uint8_t>(round);
      write.relaxed_ordering = random_.below(2) == 0;
      Tlp& flag = bench_->device(0).send(1, TlpKind::memory_write, 0, 4);
      flag.data = {static_cast<std::uint8_t>(round), 0, 0, 0};
      flag.relaxed_ordering = relaxed_flag;
    }
  }
  /// How often the flag was seen before its data.
  unsigned violations() {
    unsigned count = 0;
    for (Cycle now = 1; now < 20000; ++now) {
      bench_->run(now);
      const unsigned flag = bench_->memory.at(0)[0];
      if (flag != 0 && bench_->memory.at(data_[flag - 1])[0] != flag) ++count;
    }
    EXPECT_EQ(bench_->memory.at(0)[0], kRounds);
    return count;
  }

 private:
  static constexpr unsigned kRounds = 12;
  Random random_;
  RootComplexParameters parameters_;
  std::unique_ptr<BenchOfRoot> bench_;
  std::vector<std::uint64_t> data_;
};

TEST(RootOrdering, AFlagThatIsNotRelaxedIsNeverSeenBeforeItsData) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    EXPECT_EQ(Publication(seed, false).violations(), 0U) << seed;
}

TEST(RootOrdering, AnAnswerToTheHostComesAfterTheWritesBeforeIt) {
  RootComplexParameters parameters;
  parameters.memory_channels = 4;
  parameters.channel_distance = 300;
  BenchOfRoot bench(1, parameters);
  for (unsigned i = 0; i < 10; ++i) {
    const Cycle start = bench.engine.now() + 1;
    const std::uint64_t address = 3 * 4096 + 64 * i;
    const auto ticket = bench.host.load(BenchOfRoot::window(0), 4, start);
    // On its way before the load reaches the device.
    bench.device(0).send(start + 50, TlpKind::memory_write, address, 4);
    bool visible = false;
    bench.host.on_event([&](Cycle) { visible = bench.memory.at(address)[0] == 1; });
    bench.run();
    HostBridge::Answer answer;
    ASSERT_TRUE(bench.host.take(ticket, answer));
    EXPECT_TRUE(visible) << i;
  }
}

TEST(RootOrdering, AWordToAPeerComesAfterTheWritesBeforeIt) {
  for (const bool relaxed : {false, true}) {
    RootComplexParameters parameters;
    parameters.memory_channels = 4;
    parameters.channel_distance = 300;
    BenchOfRoot bench(2, parameters);
    const std::uint64_t address = 3 * 4096;
    bench.device(0).send(1, TlpKind::memory_write, address, 4);
    bench.device(0).send(1, TlpKind::memory_write, BenchOfRoot::window(1), 4).relaxed_ordering = relaxed;
    // What follows is not kept back by what waits.
    bench.device(0).send(2, TlpKind::memory_write, BenchOfRoot::window(1) + 8, 4).relaxed_ordering = true;
    const auto& came = bench.device(1).came;
    bool visible = false;
    for (Cycle now = 1; came.size() < 2; ++now) {
      ASSERT_LT(now, 5000U);
      visible = bench.memory.at(address)[0] == 1;
      bench.run(now);
    }
    EXPECT_EQ(visible, !relaxed) << "when the last has come";
    EXPECT_EQ(came[0].second.address, BenchOfRoot::window(1) + (relaxed ? 0 : 8));
  }
}

TEST(RootOrdering, ARelaxedFlagIsSometimesSeenBeforeItsData) {
  unsigned violations = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) violations += Publication(seed, true).violations();
  EXPECT_GT(violations, 0U);
}

/// Random requests of two devices and the host: where and when everything arrives does not depend on which
/// ticks components get.
std::string story(std::uint64_t seed, TickMode mode) {
  Random random(seed);
  RootComplexParameters parameters;
  parameters.forward_queue = 1 + static_cast<unsigned>(random.below(4));
  parameters.memory_channels = 3;
  BenchOfRoot bench(2, parameters, mode, seed);
  for (unsigned i = 0; i < 200; ++i) {
    const auto device = static_cast<unsigned>(random.below(2));
    constexpr std::array kKinds = {TlpKind::memory_write, TlpKind::memory_read, TlpKind::fetch_add};
    const TlpKind kind = kKinds[random.below(kKinds.size())];
    const std::uint64_t base = random.below(3) == 0 ? BenchOfRoot::window(1 - device) : 0;
    const std::uint64_t address = base + 8 * random.below(8000);
    const auto bytes = kind == TlpKind::fetch_add ? 8 : static_cast<std::uint32_t>(1 + random.below(100));
    Tlp& tlp = bench.device(device).send(1 + i * 3, kind, address, bytes, static_cast<std::uint16_t>(i));
    if (address % 4096 + bytes > 4096) tlp.address -= 256;
    tlp.relaxed_ordering = random.below(4) == 0;
    if (random.below(4) == 0)
      static_cast<void>(bench.host.load(BenchOfRoot::window(device) + 64, 8, 1 + i * 3));
  }
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  std::string text;
  for (const auto& device : bench.devices)
    for (const auto& [cycle, tlp] : device->came)
      text += std::to_string(cycle) + ":" + std::to_string(static_cast<unsigned>(tlp.kind)) + ":" +
              std::to_string(tlp.tag) + ":" + std::string(tlp.data.begin(), tlp.data.end()) + "\n";
  text.append(reinterpret_cast<const char*>(bench.memory.at(0)), 1U << 17U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
  return text;
}

TEST(RootOrdering, TicksThatNobodyAskedForChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string lazy = story(seed, TickMode::lazy);
    EXPECT_EQ(lazy, story(seed, TickMode::every_cycle)) << "seed " << seed;
    EXPECT_EQ(lazy, story(seed, TickMode::spurious_and_shuffled)) << "seed " << seed;
  }
}

}  // namespace root_ordering_test
}  // namespace warpline
