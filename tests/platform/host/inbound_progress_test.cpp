// GPUs, a device and the host all work in each other's memory, with as little room on the way as there can
// be: all of it ends.
#include <gtest/gtest.h>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "sw/driver/wl_peer.h"
#include "tests/platform/host/gpus_and_host.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace inbound_progress_test {

std::vector<std::string> draw_settings(Random& random) {
  std::vector<std::string> out = {{"gpus=2"}, {"pcie_system.host.completion_timeout=10000000"}};
  const auto set = [&](const std::string& key, std::uint64_t value) {
    out.push_back({key + "=" + std::to_string(value)});
  };
  for (const std::string link : {"pcie_system.device.", "pcie_system.gpu."}) {
    for (const std::string of : {"posted", "non_posted", "completion"})
      set(link + of + "_credits", 1 + random.below(3));
    set(link + "max_payload", 128);
    set(link + "max_read_request", 256);
    set(link + "tags", 1 + random.below(4));
    set(link + "latency", 1 + random.below(50));
    set(link + "completion_timeout", 10'000'000);
  }
  set("pcie_system.root.forward_queue", 1 + random.below(2));
  set("pcie.latency", 1 + random.below(50));
  set("pcie.tags", 1 + random.below(4));
  set("l2.slices", 1 + random.below(3));
  for (const std::string hop : {"pcie_crossbar", "crossbar_l2", "l2_pcie", "l1_lg_crossbar"})
    for (const std::string way : {".request", ".response"})
      set("hops." + hop + way + ".depth", 1 + random.below(3));
  return out;
}

const char* const kBody =
    "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d1, %d0, %a1;\nadd.u64 %d2, %d0, %a2;\n"
    "add.u64 %d0, %d0, %a0;\nmov.u32 %r1, 4;\n"
    "LOOP: st.volatile.global.u32 [%d0+1024], %r1;\natom.add.sys.global.u32 %r2, [%a0], 1;\n"
    "atom.xor.sys.global.b32 %r2, [%a1+4], %r1;\nst.volatile.global.u32 [%d1+256], %r1;\n"
    "ld.volatile.global.u32 %r3, [%d0+1024];\natom.add.sys.global.u32 %r2, [%a1], 1;\n"
    "ld.volatile.global.u32 %r4, [%d1+256];\nred.add.sys.global.u32 [%a2], 1;\n"
    "st.volatile.global.u32 [%d2+512], %r4;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra LOOP;\n"
    "fence.sc.sys;\nred.add.sys.global.u32 [%a3], 1;\n";

void play(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr unsigned kThreads = 64, kCtas = 2;
  Random random(seed);
  RunOptions options;
  if (seed % 2 == 0) options.jitter = seed;
  GpusAndHost bench(options, draw_settings(random));
  for (unsigned gpu = 0; gpu < 2; ++gpu) {
    bench.open_video(0, gpu);
    bench.open_video(bench.device_of(gpu), 1 - gpu);
  }
  std::array<GpusAndHost::Video, 2> v = {bench.video(1U << 15U, 0), bench.video(1U << 15U, 1)};
  const GpusAndHost::Shared memory = bench.share(4096);
  wl_peer peer{};
  std::array<wl_peer_slot, 16> slots{};
  wl_peer_queue_options queue{};
  queue.order = 4;
  queue.submissions = bench.host->allocate(WL_PEER_COMMAND_BYTES << 4U);
  queue.completions = bench.host->allocate(WL_PEER_COMPLETION_BYTES << 4U);
  queue.slots = slots.data();
  ASSERT_EQ(wl_peer_probe(&peer, &bench.host->port_of(0)), WL_OK);
  ASSERT_EQ(wl_peer_start(&peer), WL_OK);
  ASSERT_EQ(wl_peer_queue_create(&peer, 0, &queue), WL_OK);
  const auto module = module_of_body(kBody, 4);
  std::vector<GpusAndHost::Grid> grids;
  for (unsigned gpu = 0; gpu < 2; ++gpu) {
    const unsigned other = bench.device_of(1 - gpu);
    const std::uint64_t base = bench.host->devices()[other].bars[GpuFunction::kMemoryBar].address;
    const std::uint64_t far = bench.platform.map(Aperture::peer, base, 1U << 24U) + (v[1 - gpu].bus - base);
    grids.push_back({module.get(), "k", block_of({far, bench.buffer, memory.address, v[gpu].address + 8192}),
                     kCtas, kThreads});
  }
  bench.start(grids);
  for (unsigned i = 0; i < 8; ++i) {
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_COPY;
    c.source = v[i % 2].bus + 12288;
    c.destination = v[1 - i % 2].bus + 20480;
    c.length = static_cast<std::uint32_t>(1 + random.below(4096));
    ASSERT_EQ(wl_peer_submit(&peer, 0, &c), WL_OK);
  }
  ASSERT_EQ(wl_peer_ring(&peer, 0), WL_OK);
  for (unsigned i = 0; i < 30; ++i) {
    bench.host->store(v[i % 2].bus + 28672 + 8 * i, 8, i);
    if (random.below(3) == 0) {
      ASSERT_EQ(bench.host->load(v[i % 2].bus + 28672 + 8 * i, 8), i);
    }
  }
  wl_peer_completion completion{};
  for (unsigned i = 0; i < 8; ++i) {
    ASSERT_EQ(wl_peer_wait(&peer, 0, 10'000, &completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  }
  bench.finish();
  for (const GpusAndHost::Video& video : v) {
    EXPECT_EQ(bench.word_at(video.address), 4U * kThreads * kCtas);
    EXPECT_EQ(bench.word_at(video.address + 8192), kThreads * kCtas);
  }
  EXPECT_EQ(bench.buffer_word(0), 2 * 4U * kThreads * kCtas);
  EXPECT_EQ(memory.word(0), 2 * 4U * kThreads * kCtas);
  EXPECT_EQ(AllCounters(bench.platform).total("pcie.function.refused"), 0U);
  EXPECT_EQ(bench.platform.unreconciled(), std::vector<std::string>{});
}

TEST(InboundProgress, EverybodyWorksInEverybodysMemory) {
  const std::uint64_t seeds = from_environment("WARPLINE_INBOUND_ORDER_SEEDS", 8);
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) play(seed);
}

}  // namespace inbound_progress_test
}  // namespace warpline::test
