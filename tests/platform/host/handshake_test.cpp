// Kernels, a host and a device that talk to each other: the given handshake, and kernels that submit
// commands.
#include <gtest/gtest.h>

#include <filesystem>

#include "rtl_models/queue_device/queue_device.h"
#include "sw/driver/wl_peer.h"
#include "tests/platform/host/gpus_and_host.h"

namespace warpline::test {
namespace handshake_test {

std::string in_source(const std::string& path) {
  return WARPLINE_SOURCE_DIR "/" + path;
}

/// A parameter block, value by value, each aligned to its size.
class Parameters {
 public:
  template <class T>
  Parameters& add(T value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value);
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
    return *this;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class Handshake : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = in_source(std::string("../shared/inputs/kernels/k08_handshake.") + GetParam() + ".ptx");
    if (!std::filesystem::exists(path_)) GTEST_SKIP() << "../shared is absent";
    module_ = module_in(path_);
  }
  static constexpr unsigned kItems = 50, kDepth = 3, kRounds = 10, kThreads = 64;
  std::string path_;
  std::unique_ptr<programs::Module> module_;
};
INSTANTIATE_TEST_SUITE_P(Targets, Handshake, testing::Values("sm_80", "sm_90"),
                         [](const auto& p) { return p.param; });

TEST_P(Handshake, OneGpuProducesInHostMemoryAndAnotherConsumes) {
  GpusAndHost bench({}, {{"gpus=2"}});
  const auto items = bench.share(16 * kItems * kDepth), head = bench.share(8), tail = bench.share(8),
             bad = bench.share(4);
  Parameters producer, consumer;
  producer.add(items.address).add(kItems).add(head.address).add(tail.address).add(kDepth).add(kRounds);
  consumer.add(items.address).add(kItems).add(head.address).add(tail.address).add(kDepth).add(kRounds);
  consumer.add(bad.address);
  bench.start({{module_.get(), "producer", producer.bytes(), 1, kThreads},
               {module_.get(), "consumer", consumer.bytes(), 1, kThreads}});
  bench.finish();
  EXPECT_EQ(head.word(0), kRounds);
  EXPECT_EQ(tail.word(0), kRounds);
  EXPECT_EQ(bad.word(0), 0U);
}

TEST_P(Handshake, TheHostConsumesWhatAGpuProduces) {
  GpusAndHost bench;
  const auto items = bench.share(16 * kItems * kDepth), head = bench.share(8), tail = bench.share(8);
  Parameters producer;
  producer.add(items.address).add(kItems).add(head.address).add(tail.address).add(kDepth).add(kRounds);
  bench.start({{module_.get(), "producer", producer.bytes(), 1, kThreads}});
  for (unsigned r = 0; r < kRounds; ++r) {
    for (unsigned looks = 0; head.word(0) <= r; ++looks) {
      ASSERT_LT(looks, 10'000U) << "round " << r;
      bench.host->pass(100);
    }
    for (unsigned i = 0; i < kItems; ++i) {
      const std::size_t at = 4 * (r % kDepth * kItems + i);
      ASSERT_EQ(items.word(at), r) << "item " << i;
      ASSERT_EQ(items.word(at + 1), i);
      ASSERT_EQ(items.word(at + 2), r ^ i);
      ASSERT_EQ(items.word(at + 3), r + i);
    }
    const std::uint64_t taken = r + 1;
    std::memcpy(tail.bytes, &taken, sizeof taken);
  }
  bench.finish();
}

TEST_P(Handshake, TheDoorbellIsARegisterOfTheDevice) {
  GpusAndHost bench;
  const std::uint64_t before = bench.peer().log().total();
  const auto memory = bench.share(4096);
  const std::uint64_t scratch = bench.registers + WL_PEER_SCRATCH_OFFSET(0);
  Parameters p;
  p.add(scratch).add(scratch).add(memory.address).add(0x1234'5678U);
  bench.start({{module_.get(), "doorbell", p.bytes(), 1, kWarpLanes}});
  bench.finish();
  EXPECT_EQ(memory.word(0), 0x1234'5678U);
  for (unsigned i = 0; i < kWarpLanes; ++i) EXPECT_EQ(memory.word(1 + i), 0x1234'5678U + i);
  EXPECT_EQ(bench.peer().registers().peek(WL_PEER_SCRATCH_OFFSET(0), 4).value, 0x1234'5678U);
  // The store, at least one look, and the volatile load.
  EXPECT_GE(bench.peer().log().total() - before, 3U);
}

/// The device with a queue that a kernel works with.
class Submission : public testing::Test {
 protected:
  static constexpr unsigned kOrder = 3, kPatience = 2000;

  void SetUp() override {
    const wl_port* const port = &bench_.host->port_of(0);
    ASSERT_EQ(wl_peer_probe(&peer_, port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peer_), WL_OK);
    submissions_ = bench_.share(WL_PEER_COMMAND_BYTES << kOrder);
    completions_ = bench_.share(WL_PEER_COMPLETION_BYTES << kOrder);
    destination_ = bench_.share(4096);
    seen_ = bench_.share(4096);
    wl_peer_queue_options options{};
    options.order = kOrder;
    options.submissions = submissions_.bytes;
    options.completions = completions_.bytes;
    options.slots = slots_.data();
    ASSERT_EQ(wl_peer_queue_create(&peer_, 0, &options), WL_OK);
    bus_ = port->dma_map(port->context, destination_.bytes, 4096, WL_DMA_BOTH);
    module_ = module_in(in_source("sw/kernels/submit.sm_80.ptx"));
  }
  void run(const std::string& entry, unsigned count) {
    Parameters p;
    p.add(submissions_.address).add(completions_.address);
    p.add(bench_.registers + WL_PEER_SQ_TAIL_DOORBELL_OFFSET(0)).add(std::uint64_t{kOrder});
    p.add(bus_).add(count).add(kPatience).add(seen_.address);
    bench_.start({{module_.get(), entry, p.bytes()}});
    bench_.finish();
  }
  /// Whether command n was carried out.
  [[nodiscard]] bool filled(unsigned n) const {
    for (unsigned w = 0; w < 2 * (n % 8 + 1); w += 2)
      if (destination_.word(16 * n + w) != n || destination_.word(16 * n + w + 1) != 0) return false;
    return true;
  }

  GpusAndHost bench_;
  wl_peer peer_{};
  std::array<wl_peer_slot, 1U << kOrder> slots_{};
  GpusAndHost::Shared submissions_, completions_, destination_, seen_;
  std::uint64_t bus_ = 0;
  std::unique_ptr<programs::Module> module_;
};

TEST_F(Submission, AKernelSubmitsRingsAndSeesEveryCompletion) {
  constexpr unsigned kCommands = 30;
  std::memset(destination_.bytes, 0xEE, 4096);
  run("submit_right", kCommands);
  for (unsigned n = 0; n < kCommands; ++n) {
    EXPECT_EQ(seen_.word(n), n + 1) << "identifier, and status OK";
    EXPECT_TRUE(filled(n)) << n;
  }
  EXPECT_EQ(bench_.peer().counters().commands, kCommands);
  EXPECT_EQ(bench_.peer().counters().failed_commands, 0U);
}

TEST_F(Submission, WithoutTheFenceTheDeviceFetchesAStaleCommand) {
  std::memset(destination_.bytes, 0xEE, 4096);
  run("submit_without_fence", 1);
  EXPECT_EQ(seen_.word(0), 0U) << "the completion of a NOP without identifier, as the ring's zeros say";
  EXPECT_FALSE(filled(0));
}

TEST_F(Submission, LookingInL1NeverSeesTheCompletion) {
  std::memset(destination_.bytes, 0xEE, 4096);
  run("submit_and_look_in_cache", 1);
  EXPECT_EQ(seen_.word(0), 0xFFFF'FFFFU);
  EXPECT_TRUE(filled(0)) << "the device has done it";
  EXPECT_EQ(bench_.peer().counters().commands, 1U);
}

}  // namespace handshake_test
}  // namespace warpline::test
