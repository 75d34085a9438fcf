// A host bridge whose accesses are loosely timed: what they cause may come back before they return.
#include <gtest/gtest.h>

#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex_core.h"

namespace warpline {
namespace loose_host_test {

constexpr std::uint64_t kMemory = 0x10000, kPlain = 0x20000;

/// Performs what the host asks for, keeps what it was, and raises an interrupt in the midst of the first
/// write.
struct LooseRoot final : LooseTlpTarget {
  explicit LooseRoot(HostBridge& to) : host(to) {}
  void perform(Tlp& tlp, Cycle& at) override {
    came.emplace_back(tlp.address, tlp.data.empty() ? 0U : tlp.data[0]);
    if (tlp.kind == TlpKind::memory_read) {
      if (tlp.address + tlp.bytes > end) {
        tlp.status = CompletionStatus::unsupported_request;
      } else {
        tlp.data.assign(tlp.bytes, 5);
      }
    }
    if (!raises) return;
    raises = false;
    Tlp message;
    message.kind = TlpKind::memory_write;
    message.address = RootComplexCore::kInterruptWindow;
    message.bytes = 4;
    message.data.assign(4, 1);
    Cycle then = at;
    host.perform(message, then);
    came_before_the_interrupt = came.size();
  }

  HostBridge& host;
  bool raises = true;
  std::uint64_t end = kNever;                            ///< of memory: reads beyond it are refused
  std::vector<std::pair<std::uint64_t, unsigned>> came;  ///< address and first byte
  std::size_t came_before_the_interrupt = 0;
};

struct Bench {
  explicit Bench(const HostBridgeParameters& p = {}) : host(engine, "host", {}, pool, LinkParameters{}, p) {
    host.perform_by(root);
    host.set_loose(true);
    host.add_prefetchable({kMemory, 0x1000});
    EXPECT_TRUE(host.set_combining({kMemory, 0x1000}, true));
  }
  void store(std::uint64_t address, std::uint8_t value, unsigned bytes = 8) {
    const std::vector<std::uint8_t> data(bytes, value);
    host.store(address, data.data(), bytes, ++now);
  }

  Engine engine;
  TlpPool pool;
  HostBridge host;
  LooseRoot root{host};
  Cycle now = 0;
};

TEST(LooseHost, AnInterruptThatAStoreCausesComesAfterAllThatGatheredAndRepeatsNothing) {
  const std::vector<std::pair<const char*, std::function<void(Bench&)>>> rows = {
      {"a barrier", [](Bench& b) { b.host.barrier(++b.now); }},
      {"a load", [](Bench& b) { static_cast<void>(b.host.load(kPlain, 4, ++b.now)); }},
      // Two full lines leave while others gather.
      {"a store of two lines", [](Bench& b) { b.store(kMemory + 0x800, 9, 128); }}};
  for (const auto& [what, act] : rows) {
    Bench bench;
    std::vector<std::pair<std::uint64_t, unsigned>> expected;
    for (std::uint8_t i = 1; i <= 4; ++i) {
      bench.store(kMemory + 64U * i, i);
      expected.emplace_back(kMemory + 64U * i, i);
    }
    act(bench);
    bench.host.barrier(++bench.now);
    std::vector<std::pair<std::uint64_t, unsigned>> gathered;
    for (const auto& write : bench.root.came)
      if (write.first >= kMemory && write.first < kMemory + 0x800) gathered.push_back(write);
    EXPECT_EQ(gathered, expected) << what;
    const bool full = bench.root.came.front().first == kMemory + 0x800;
    EXPECT_EQ(bench.root.came_before_the_interrupt, full ? 6U : 4U) << what;
    EXPECT_EQ(bench.host.interrupts().size(), 1U) << what;
    EXPECT_EQ(bench.pool.in_use(), 0U) << what;
  }
}

TEST(LooseHost, WhereTheMemoryBehindABarEndsOnlyWhatWasAskedForIsReadAgain) {
  HostBridgeParameters p;
  p.read_ahead = 64;
  Bench bench(p);
  bench.root.raises = false;
  bench.root.end = kMemory + 0x110;
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(bench.host.load(kMemory + 0x108, 8, ++bench.now), answer));
  EXPECT_EQ(answer.outcome, TlpOutcome::done);
  EXPECT_EQ(answer.data, std::vector<std::uint8_t>(8, 5));
  EXPECT_EQ(bench.host.counters().reads, 2U);
  EXPECT_EQ(bench.host.counters().refused, 0U);
  ASSERT_TRUE(bench.host.take(bench.host.load(kMemory + 0x110, 8, ++bench.now), answer));
  EXPECT_EQ(answer.outcome, TlpOutcome::unsupported_request);
  EXPECT_EQ(bench.host.counters().refused, 1U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

}  // namespace loose_host_test
}  // namespace warpline
