// What leaves a root complex by one port keeps its order, whichever port it came from: a device writes to
// another one, then tells somebody else by way of memory, who then asks the other one.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/pcie/root_complex/bench_of_root.h"

namespace warpline {
namespace root_egress_test {

using test::BenchOfRoot;

constexpr std::uint64_t kFlag = 0;

/// Device 0 floods device 1 with writes, then sets a flag in memory. Who follows the flag is drawn.
class Messages {
 public:
  static constexpr unsigned kRounds = 6;

  Messages(std::uint64_t seed, TickMode mode) : random_(seed) {
    RootComplexParameters parameters;
    parameters.forward_queue = 1 + static_cast<unsigned>(random_.below(8));
    parameters.forward_latency = 1 + static_cast<unsigned>(random_.below(200));
    parameters.memory_latency = 1 + static_cast<unsigned>(random_.below(200));
    std::vector<LinkParameters> links(3);
    links[1].bytes_per_cycle = 1 + static_cast<unsigned>(random_.below(4));
    bench_ = std::make_unique<BenchOfRoot>(links, parameters, mode, seed);
    Cycle at = 1;
    for (unsigned round = 1; round <= kRounds; ++round) {
      const unsigned writes = 1 + static_cast<unsigned>(random_.below(30));
      for (unsigned i = 0; i < writes; ++i) {
        const auto bytes = static_cast<std::uint32_t>(1 + random_.below(200));
        bench_->device(0).send(at, TlpKind::memory_write, BenchOfRoot::window(1) + 256 * i, bytes);
      }
      sent_.push_back(writes + (round == 1 ? 0 : sent_.back()));
      Tlp& flag = bench_->device(0).send(at, TlpKind::memory_write, kFlag, 4);
      flag.data = {static_cast<std::uint8_t>(round), 0, 0, 0};
      at += random_.below(3000);
    }
  }
  /// The host loads from device 1 as soon as it sees a flag, and so does device 2, by its tag.
  void follow_flags() {
    unsigned seen = 0;
    for (Cycle now = 1; now < 120000; ++now) {
      bench_->run(now);
      const unsigned flag = bench_->memory.at(kFlag)[0];
      if (flag == seen) continue;
      seen = flag;
      static_cast<void>(bench_->host.load(BenchOfRoot::window(1) + 8ULL * flag, 4, now + 1));
      bench_->device(2).send(now + 1, TlpKind::memory_read, BenchOfRoot::window(1) + 8ULL * flag, 2,
                             static_cast<std::uint16_t>(flag));
    }
    EXPECT_EQ(seen, kRounds);
    EXPECT_EQ(bench_->run(), RunOutcome::quiescent);
    check(TlpKind::memory_read);
  }
  /// Device 1 reads the flag again and again.
  void poll() {
    for (unsigned i = 0; i < 400; ++i)
      bench_->device(1).send(1 + 50 * i, TlpKind::memory_read, kFlag, 4, static_cast<std::uint16_t>(i % 64));
    EXPECT_EQ(bench_->run(), RunOutcome::quiescent);
    check(TlpKind::completion);
  }
  [[nodiscard]] unsigned checked() const { return checked_; }

 private:
  /// Whatever tells of a flag comes to device 1 after the writes before it.
  void check(TlpKind what) {
    unsigned writes = 0;
    for (const auto& [cycle, tlp] : bench_->device(1).came) {
      writes += tlp.kind == TlpKind::memory_write;
      if (tlp.kind != what) continue;
      const std::uint64_t flag = what == TlpKind::completion ? tlp.data[0] : tlp.address % 4096 / 8;
      if (flag == 0) continue;
      ++checked_;
      EXPECT_GE(writes, sent_[flag - 1]) << "flag " << flag << " in cycle " << cycle;
    }
  }
  Random random_;
  std::unique_ptr<BenchOfRoot> bench_;
  std::vector<unsigned> sent_;
  unsigned checked_ = 0;
};

std::string mode_name(const testing::TestParamInfo<TickMode>& info) {
  switch (info.param) {
    case TickMode::lazy: return "Lazy";
    case TickMode::every_cycle: return "EveryCycle";
    case TickMode::spurious_and_shuffled: return "Shuffled";
  }
  return "";
}

class RootEgress : public testing::TestWithParam<TickMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, RootEgress,
                         testing::Values(TickMode::lazy, TickMode::every_cycle,
                                         TickMode::spurious_and_shuffled),
                         mode_name);

TEST_P(RootEgress, ARequestThatFollowsAFlagStaysBehindTheWritesBeforeIt) {
  unsigned checked = 0;
  for (std::uint64_t seed = 1; seed <= 10 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Messages messages(seed, GetParam());
    messages.follow_flags();
    checked += messages.checked();
  }
  EXPECT_GT(checked, 50U);
}

TEST_P(RootEgress, AnAnswerOfMemoryStaysBehindTheWritesOfAPeer) {
  unsigned checked = 0;
  for (std::uint64_t seed = 1; seed <= 10 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Messages messages(seed, GetParam());
    messages.poll();
    checked += messages.checked();
  }
  EXPECT_GT(checked, 50U);
}

TEST(RootEgressClasses, WritesDoNotWaitForRequestsThatWantAnAnswer) {
  // Device 1 takes no more reads: those of device 0 wait at the root complex, and its writes pass them.
  RootComplexParameters parameters;
  parameters.forward_queue = 2;
  BenchOfRoot bench(2, parameters);
  bench.device(1).takes_reads = false;
  for (unsigned i = 0; i < 60; ++i)
    bench.device(0).send(1, TlpKind::memory_read, BenchOfRoot::window(1) + 8 * i, 8,
                         static_cast<std::uint16_t>(i));
  for (unsigned i = 0; i < 10; ++i)
    bench.device(0).send(5000, TlpKind::memory_write, BenchOfRoot::window(1) + 8 * i, 8);
  static_cast<void>(bench.run(20000));
  EXPECT_EQ(bench.device(1).came.size(), 10U);
  bench.device(1).takes_reads = true;
  bench.device(1).wake(bench.engine.now() + 1);
  EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.device(1).came.size(), 70U);
  EXPECT_EQ(bench.device(0).came.size(), 60U);
}

/// Memory that takes writes, and says later that they are done.
class SlowMemory final : public OutsideMemory {
 public:
  [[nodiscard]] Place find(const Tlp& request) override { return {Place::In::memory, request.address}; }
  [[nodiscard]] std::optional<CompletionStatus> perform(Tlp& request, bool /*may_wait*/) override {
    under_way.push_back(&request);
    addresses.push_back(request.address);
    return std::nullopt;
  }
  std::deque<Tlp*> under_way;
  std::vector<std::uint64_t> addresses;
};

TEST(RootEgressClasses, WhatWaitsBehindAWriteOfMemoryOutsideIsBounded) {
  constexpr unsigned kWrites = 2000;
  for (const unsigned bound : {1U, 7U, 65536U}) {
    RootComplexParameters parameters;
    parameters.outside_queue = bound;
    BenchOfRoot bench(2, parameters);
    SlowMemory memory;
    bench.root.reach_outside(memory);
    for (unsigned i = 0; i < kWrites; ++i) bench.device(0).send(1, TlpKind::memory_write, 0x1000 + 8 * i, 8);
    bench.device(1).send(1, TlpKind::memory_write, 0x9'0000, 8);
    static_cast<void>(bench.run(100'000));
    // One of either device is under way; of the others no more than the bound were taken, and what was on its
    // way to memory by then.
    EXPECT_EQ(memory.under_way.size(), 2U);
    const std::uint64_t taken = bench.root.to_device(0).counters().packets_received;
    if (bound > kWrites) {
      EXPECT_EQ(taken, kWrites);
    } else {
      EXPECT_LE(taken, 1 + bound + parameters.memory_latency + parameters.channel_distance) << bound;
    }
    for (unsigned ended = 0; ended <= kWrites && !memory.under_way.empty(); ++ended) {
      Tlp& tlp = *memory.under_way.front();
      memory.under_way.pop_front();
      bench.root.finish_outside(tlp, CompletionStatus::successful);
      static_cast<void>(bench.run(bench.engine.now() + 1000));
    }
    // All come, in order.
    memory.addresses.erase(std::remove(memory.addresses.begin(), memory.addresses.end(), 0x9'0000U),
                           memory.addresses.end());
    ASSERT_EQ(memory.addresses.size(), kWrites);
    EXPECT_TRUE(std::is_sorted(memory.addresses.begin(), memory.addresses.end()));
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
  }
}

}  // namespace root_egress_test
}  // namespace warpline
