// A driver whose rings and data lie in a GPU's memory, a device that works on them there, and kernels that
// submit from it.
#include <gtest/gtest.h>

#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "tests/platform/host/gpus_and_host.h"
#include "tests/support/environment.h"
#include "tests/sw/driver/random_commands.h"

namespace warpline::test {
namespace gpu_rings_test {

/// Which of a driver's memory lies in video memory.
struct Where {
  bool rings = true, data = true;
};

/// The driver, the device, and a GPU whose memory they use.
class GpuDriverBench : public GpusAndHost, public DriverBench {
 public:
  GpuDriverBench(const RunOptions& options, const std::vector<std::string>& overrides, Where where)
      : GpusAndHost(options, overrides), DriverBench(*host, *platform.pcie()), where_(where) {
    open_video(0);
    // A launch draws the time that messages take.
    if (options.jitter) GpusAndHost::run("st.global.u32 [%a0], 1;\n", {video(256).address});
  }
  DriverBench::Shared share(std::size_t bytes) override {
    if (!where_.data) return DriverBench::share(bytes);
    return video_shared(bytes);
  }
  void put(const DriverBench::Shared& m, std::size_t offset, const void* from, std::size_t bytes) override {
    if (m.bytes != nullptr) return DriverBench::put(m, offset, from, bytes);
    platform.write(address_of(m) + offset, from, bytes);
  }
  void get(const DriverBench::Shared& m, void* to, std::size_t bytes) override {
    if (m.bytes != nullptr) return DriverBench::get(m, to, bytes);
    platform.read(address_of(m), to, bytes);
  }
  void place_rings(wl_peer_queue_options& options) override {
    if (!where_.rings) return DriverBench::place_rings(options);
    const std::size_t entries = std::size_t{1} << options.order;
    options.submissions_at = place(video(entries * WL_PEER_COMMAND_BYTES));
    options.completions_at = place(video(entries * WL_PEER_COMPLETION_BYTES));
  }
  /// As the driver reaches it, and the device, to which the BAR is opened at its own address.
  static wl_peer_place place(const Video& v) { return {WL_SPACE_BUS, v.bus, v.bus}; }

 private:
  DriverBench::Shared video_shared(std::size_t bytes) {
    const Video v = video(bytes);
    videos_[v.bus] = v.address;
    return {nullptr, v.bus};
  }
  [[nodiscard]] std::uint64_t address_of(const DriverBench::Shared& m) const { return videos_.at(m.bus); }
  Where where_;
  std::map<std::uint64_t, std::uint64_t> videos_;  ///< virtual addresses, by those on the bus
};

/// A machine of odd shape.
std::vector<std::string> draw_settings(Random& random) {
  std::vector<std::string> out;
  const auto set = [&](const std::string& key, std::uint64_t value) {
    out.push_back({key + "=" + std::to_string(value)});
  };
  const std::uint64_t payload = 128U << random.below(3);
  for (const std::string link : {"pcie_system.device.", "pcie_system.gpu."}) {
    set(link + "max_payload", payload);
    set(link + "max_read_request", 128U << random.below(3));
    set(link + "completion_boundary", 64U << random.below(2));
    set(link + "posted_credits", 2 + random.below(30));
    set(link + "non_posted_credits", 2 + random.below(30));
    set(link + "latency", 1 + random.below(100));
  }
  set("pcie_system.device.tags", 1 + random.below(40));
  set("pcie_system.root.memory_channels", 1 + random.below(4));
  set("pcie_system.peer.commands", 1 + random.below(20));
  set("pcie_system.peer.write_queue", 1 + random.below(12));
  set("pcie_system.peer.completion_spread", random.below(2) * random.below(3000));
  set("pcie_system.peer.seed", random.below(1U << 30U));
  set("pcie.latency", 1 + random.below(100));
  set("l2.slices", 1 + random.below(4));
  return out;
}

void run_commands(std::uint64_t seed, unsigned count) {
  Random random(seed);
  RunOptions options;
  options.loose = random.below(4) == 0;
  const Where where{random.below(4) != 0, random.below(4) != 0};
  SCOPED_TRACE("seed " + std::to_string(seed) + (options.loose ? ", loosely timed" : ", timed"));
  GpuDriverBench bench(options, draw_settings(random), where);
  run_random_commands(bench, random, count, [&] {
    // A completion in host memory says nothing of data in video memory: see inbound_order_test.cpp.
    if (where.data && !where.rings)
      static_cast<void>(bench.host->load(bench.host->devices()[bench.device_of(0)].bars[0].address, 4));
  });
  EXPECT_EQ(bench.platform.pcie()->root().core().iommu().fault_count(), 0U);
  EXPECT_EQ(bench.platform.unreconciled(), std::vector<std::string>{});
}

/// The whole: WARPLINE_COMMANDS=100000.
TEST(GpuRings, CommandsAreEachDoneOnceWithEveryByteRight) {
  const std::uint64_t seed = from_environment("WARPLINE_COMMAND_SEED", 1);
  const std::uint64_t count = from_environment("WARPLINE_COMMANDS", 2000);
  for (std::uint64_t i = 0; i < count / 200 && !testing::Test::HasFailure(); ++i) run_commands(seed + i, 200);
}

/// A queue with rings in video memory, and a command for it.
class GpuQueue : public testing::Test {
 protected:
  void SetUp() override {
    bench_.DriverBench::start(3);
    memory_ = bench_.share(4096);
  }
  [[nodiscard]] wl_peer_command fill(std::uint64_t cookie) const {
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_FILL;
    c.destination = memory_.bus;
    c.length = 64;
    c.operand = cookie;
    c.cookie = cookie;
    return c;
  }
  void decode_memory(bool decodes) {
    const HostDevice& gpu = bench_.host->devices()[bench_.device_of(0)];
    bench_.host->store_config(gpu.id, 4, 2, decodes ? 6 : 4);
  }
  GpuDriverBench bench_{{}, {}, {}};
  DriverBench::Shared memory_;
  wl_peer& peer_ = bench_.DriverBench::peer;
};

TEST_F(GpuQueue, AskedToRecoverItReportsEachCommandOnceAndGoesOn) {
  for (std::uint64_t n = 0; n < 5; ++n) {
    const wl_peer_command c = fill(n);
    ASSERT_EQ(wl_peer_submit(&peer_, 0, &c), WL_OK);
  }
  ASSERT_EQ(wl_peer_ring(&peer_, 0), WL_OK);
  ASSERT_EQ(wl_peer_recover(&peer_), WL_OK);
  unsigned seen = 0;
  wl_peer_completion completion{};
  for (unsigned n = 0; n < 5; ++n) {
    ASSERT_EQ(wl_peer_wait(&peer_, 0, 1000, &completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_ABORTED);
    seen |= 1U << completion.cookie;
  }
  EXPECT_EQ(seen, 0x1FU);
  for (std::uint64_t n = 10; n < 40; ++n) {
    ASSERT_EQ(bench_.DriverBench::run(fill(n), completion), WL_OK);
    EXPECT_EQ(completion.cookie, n);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  }
}

TEST_F(GpuQueue, ARingThatCannotBeFlushedIsNotRung) {
  const wl_peer_command c = fill(7);
  ASSERT_EQ(wl_peer_submit(&peer_, 0, &c), WL_OK);
  decode_memory(false);
  EXPECT_EQ(wl_peer_ring(&peer_, 0), WL_TIMEOUT);
  EXPECT_EQ(bench_.device.core().counters().commands, 0U);
  wl_peer_completion completion{};
  EXPECT_EQ(wl_peer_poll(&peer_, 0, &completion), WL_NONE) << "all ones are no completion";
  decode_memory(true);
  ASSERT_EQ(wl_peer_ring(&peer_, 0), WL_OK);
  ASSERT_EQ(wl_peer_wait(&peer_, 0, 1000, &completion), WL_OK);
  EXPECT_EQ(completion.cookie, 7U);
}

TEST_F(GpuQueue, ItsPlacesAreChecked) {
  std::array<wl_peer_slot, 8> slots{};
  wl_peer_queue_options options{};
  options.order = 3;
  options.slots = slots.data();
  EXPECT_EQ(wl_peer_queue_create(&peer_, 1, &options), WL_BAD_ARGUMENT) << "neither memory nor a place";
  bench_.place_rings(options);
  for (wl_peer_place* const place : {&options.submissions_at, &options.completions_at}) {
    const wl_peer_place right = *place;
    for (const wl_peer_place& wrong : {wl_peer_place{right.space, right.offset + 4, right.bus},
                                       wl_peer_place{right.space, right.offset, right.bus + 8},
                                       wl_peer_place{right.space, right.offset, 0}}) {
      *place = wrong;
      EXPECT_EQ(wl_peer_queue_create(&peer_, 1, &options), WL_BAD_ARGUMENT);
    }
    *place = right;
  }
  EXPECT_EQ(wl_peer_queue_create(&peer_, 1, &options), WL_OK);
  EXPECT_EQ(wl_peer_queue_destroy(&peer_, 1, 1000), WL_OK);
}

/// Completions and data both in video memory; a kernel looks there. How often data is older than its
/// completion.
unsigned stale_behind_completion(std::uint64_t seed, bool relaxed) {
  RunOptions options;
  options.jitter = seed;
  GpuDriverBench bench(options, {}, {});
  const GpusAndHost::Video data = bench.video(384 * kWarpLanes), stale = bench.video(256),
                           submissions = bench.video(8 * WL_PEER_COMMAND_BYTES),
                           completions = bench.video(8 * WL_PEER_COMPLETION_BYTES);
  wl_peer peer{};
  std::array<wl_peer_slot, 8> slots{};
  wl_peer_queue_options queue{};
  queue.order = 3;
  queue.submissions_at = GpuDriverBench::place(submissions);
  queue.completions_at = GpuDriverBench::place(completions);
  queue.slots = slots.data();
  queue.relaxed = relaxed ? 1 : 0;
  if (wl_peer_probe(&peer, &bench.host->port_of(0)) != WL_OK || wl_peer_start(&peer) != WL_OK ||
      wl_peer_queue_create(&peer, 0, &queue) != WL_OK)
    throw std::runtime_error("the device does not start");
  constexpr unsigned kCommands = 6;
  const auto module = module_of_body(
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 384;\nadd.u64 %d0, %d0, %a0;\nmul.wide.u32 %d1, %r0, 4;\n"
      "add.u64 %d1, %d1, %a2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 1;\nmov.u64 %d2, %a1;\n"
      "LOOP: ld.acquire.sys.global.u32 %r1, [%d2+12];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra LOOP;\n"
      "ld.volatile.global.u32 %r2, [%d0];\nsetp.lt.u32 %p, %r2, %r4;\n@%p add.u32 %r3, %r3, 1;\n"
      "add.u64 %d2, %d2, 16;\nadd.u32 %r4, %r4, 1;\nsetp.ne.u32 %p, %r4, " +
          std::to_string(kCommands + 1) + ";\n@%p bra LOOP;\nst.global.u32 [%d1], %r3;\n",
      3);
  bench.GpusAndHost::start(
      {{module.get(), "k", block_of({data.address, completions.address, stale.address}), 1, kWarpLanes}});
  for (unsigned n = 1; n <= kCommands; ++n) {
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_FILL;
    c.destination = data.bus;
    c.length = 384 * kWarpLanes;
    c.operand = std::uint64_t{n} << 32U | n;
    wl_peer_completion completion{};
    if (wl_peer_submit(&peer, 0, &c) != WL_OK || wl_peer_ring(&peer, 0) != WL_OK ||
        wl_peer_wait(&peer, 0, 100'000, &completion) != WL_OK)
      throw std::runtime_error("the device does not do what it should");
  }
  bench.finish();
  unsigned count = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) count += bench.word_at(stale.address + 4 * i);
  return count;
}

TEST(GpuRings, ACompletionIsNeverSeenBeforeItsData) {
  const std::uint64_t seeds = from_environment("WARPLINE_INBOUND_ORDER_SEEDS", 8);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(stale_behind_completion(seed, false), 0U) << "seed " << seed;
}

TEST(GpuRings, ButMayBeWhereOrderingIsRelaxed) {
  unsigned stale = 0;
  for (std::uint64_t seed = 1; seed <= 300 && stale == 0; ++seed) stale = stale_behind_completion(seed, true);
  EXPECT_GT(stale, 0U) << "relaxed ordering shows nothing";
}

TEST(GpuSubmission, AKernelSubmitsFromRingsInItsOwnMemory) {
  constexpr unsigned kOrder = 3, kCommands = 30;
  GpuDriverBench bench({}, {}, {});
  const GpusAndHost::Video submissions = bench.video(WL_PEER_COMMAND_BYTES << kOrder),
                           completions = bench.video(WL_PEER_COMPLETION_BYTES << kOrder),
                           destination = bench.video(4096), seen = bench.video(4096);
  wl_peer peer{};
  std::array<wl_peer_slot, 1U << kOrder> slots{};
  wl_peer_queue_options queue{};
  queue.order = kOrder;
  queue.submissions_at = GpuDriverBench::place(submissions);
  queue.completions_at = GpuDriverBench::place(completions);
  queue.slots = slots.data();
  ASSERT_EQ(wl_peer_probe(&peer, &bench.host->port_of(0)), WL_OK);
  ASSERT_EQ(wl_peer_start(&peer), WL_OK);
  ASSERT_EQ(wl_peer_queue_create(&peer, 0, &queue), WL_OK);
  const auto module = module_in(WARPLINE_SOURCE_DIR "/sw/kernels/submit.sm_80.ptx");
  // The order is a word, and a word beside it is nobody's; so are count and patience.
  const std::vector<std::uint64_t> parameters = {submissions.address,
                                                 completions.address,
                                                 bench.registers + WL_PEER_SQ_TAIL_DOORBELL_OFFSET(0),
                                                 kOrder,
                                                 destination.bus,
                                                 kCommands | std::uint64_t{2000} << 32U,
                                                 seen.address};
  bench.GpusAndHost::start({{module.get(), "submit_right", block_of(parameters)}});
  bench.finish();
  for (unsigned n = 0; n < kCommands; ++n) {
    EXPECT_EQ(bench.word_at(seen.address + 4 * n), n + 1) << "identifier, and status OK";
    for (unsigned w = 0; w < 2 * (n % 8 + 1); w += 2)
      EXPECT_EQ(bench.word_at(destination.address + 64 * n + 4 * w), n);
  }
  EXPECT_EQ(bench.device.core().counters().commands, kCommands);
  EXPECT_EQ(bench.device.core().counters().failed_commands, 0U);
}

}  // namespace gpu_rings_test
}  // namespace warpline::test
