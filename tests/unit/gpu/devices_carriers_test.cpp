// A GPU, a host and a device, with the GPU's hops in SystemC: the same run as in plain C++.
#include <gtest/gtest.h>

#include "gpus_and_host.h"
#include "warpline/gpu/tlm_driver.h"

namespace warpline::test {
namespace {

struct Outcome {
  Cycle cycles = 0;
  std::uint32_t sum = 0, seen = 0;
  std::map<std::string, std::uint64_t> counters;
};

/// The kernel counts in the device's memory until the host has set a flag, also there.
Outcome play(std::shared_ptr<NetlistDriver> driver) {
  RunOptions options;
  options.driver = std::move(driver);
  GpusAndHost bench(options, {{"clocks.link=700"}, {"pcie.latency=30"}});
  const GpusAndHost::Shared out = bench.share(4096);
  const auto module = module_of_body(
      "LOOP: atom.add.sys.global.u32 %r1, [%a0], 1;\nst.global.u32 [%a0+64], %r1;\nfence.sc.sys;\n"
      "ld.mmio.relaxed.sys.global.u32 %r0, [%a0+128];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra LOOP;\n"
      "st.global.u32 [%a1], %r1;\n",
      2);
  bench.start({{module.get(), "k", block_of({bench.buffer, out.address})}});
  bench.host->pass(5000);
  bench.host->store(bench.host->devices()[0].bars[PeerCore::kBufferBar].address + 128, 4, 1);
  Outcome o;
  o.cycles = bench.finish().cycles;
  o.sum = bench.buffer_word(0);
  o.seen = out.word(0);
  o.counters = AllCounters(bench.platform).values();
  return o;
}

void expect_law(HopTransport transport) {
  const Outcome plain = play(nullptr);
  EXPECT_GT(plain.sum, 3U);
  EXPECT_EQ(plain.seen + 1, plain.sum);
  const GpuConfig config = preset("mini", {{"clocks.link=700"}, {"pcie.latency=30"}});
  const Outcome carried = play(std::make_shared<SystemCDriver>(config.clocks, transport));
  EXPECT_EQ(plain.cycles, carried.cycles);
  EXPECT_EQ(plain.sum, carried.sum);
  EXPECT_EQ(plain.seen, carried.seen);
  EXPECT_EQ(plain.counters, carried.counters);
}

TEST(DevicesInSystemC, AreReachedAsInPlainCpp) {
  expect_law(HopTransport::direct);
}

TEST(DevicesInSystemC, AreReachedTheSameOverSockets) {
  expect_law(HopTransport::socket);
}

}  // namespace
}  // namespace warpline::test
