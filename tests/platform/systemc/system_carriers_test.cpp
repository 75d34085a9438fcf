// Two GPUs in SystemC, next to the same in plain C++: the law of the transports.
#include <gtest/gtest.h>

#include "platform/systemc/systemc_backend.h"
#include "tests/platform/machine/two_gpus.h"

namespace warpline::test {
namespace system_carriers_test {

struct Outcome {
  Cycle cycles = 0;
  std::vector<std::uint32_t> words;
  std::map<std::string, std::uint64_t> counters;
};

/// Both GPUs take a lock in system memory in turns, and write to their own, the host's and the peer's memory.
Outcome play(std::shared_ptr<NetlistBackend> backend, const std::vector<std::string>& overrides) {
  RunOptions options;
  options.backend = std::move(backend);
  TwoGpus gpus(overrides, options);
  const std::uint64_t lock = gpus.zeros(Aperture::sysmem), counter = gpus.zeros(Aperture::sysmem);
  const std::uint64_t device = gpus.zeros(Aperture::peer);
  const std::string body =
      "mov.u32 %r5, 0;\nAGAIN: atom.acquire.sys.global.cas.b32 %r0, [%a0], 0, 1;\nsetp.ne.u32 %p, %r0, 0;\n"
      "@%p bra AGAIN;\nld.global.u32 %r1, [%a1];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%a1], %r1;\n"
      "st.mmio.relaxed.sys.global.u32 [%a2], %r1;\nred.max.sys.global.u32 [%a2+4], %r1;\n"
      "st.global.u32 [%a3], %r1;\nst.release.sys.global.u32 [%a0], 0;\nadd.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %p, %r5, 3;\n@%p bra AGAIN;\n";
  const std::uint64_t own0 = gpus.zeros(Aperture::vidmem, 0), own1 = gpus.zeros(Aperture::vidmem, 1);
  Outcome out;
  out.cycles =
      gpus.run({body, {lock, counter, device, own0}, 2, 1}, {body, {lock, counter, device, own1}, 2, 1})
          .cycles;
  out.words = {gpus.word(counter), gpus.word(device), gpus.word(device + 4), gpus.word(own0),
               gpus.word(own1)};
  out.counters = AllCounters(gpus.platform()).values();
  EXPECT_TRUE(gpus.platform().unreconciled().empty());
  return out;
}

void expect_law(HopTransport transport, const std::vector<std::string>& pins = {}) {
  const std::vector<std::string> overrides = {{"sms=2"}, {"clocks.link=700"}, {"pcie.latency=30"}};
  const GpuConfig config = TwoGpus::config(overrides);
  const Outcome plain = play(nullptr, overrides);
  EXPECT_EQ(plain.words[0], 12U);
  EXPECT_EQ(plain.words[1], 12U);
  EXPECT_EQ(plain.words[2], 12U);
  const Outcome carried =
      play(std::make_shared<SystemCBackend>(config.clocks, transport, TickMode::lazy, 1, pins), overrides);
  EXPECT_EQ(plain.words, carried.words);
  EXPECT_EQ(plain.cycles, carried.cycles);
  EXPECT_EQ(plain.counters, carried.counters);
}

TEST(SystemInSystemC, RunsAsInPlainCpp) {
  expect_law(HopTransport::direct);
}

TEST(SystemInSystemC, RunsTheSameOverSockets) {
  expect_law(HopTransport::socket);
}

TEST(SystemInSystemC, RunsTheSameOverPinsOfOneGpu) {
  expect_law(HopTransport::direct, {"gpu[1].pcie.from_l2[*]", "gpu[0].l2[0].*"});
}

TEST(SystemInSystemC, TakesNoForeignSlices) {
  const GpuConfig config = TwoGpus::config({});
  const auto backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  backend->replace_slices([](const SliceSite&) { return SliceSockets{}; });
  RunOptions options;
  options.backend = backend;
  GpuPlatform platform(config, options);
  EXPECT_THROW(platform.build(), std::invalid_argument);
}

}  // namespace system_carriers_test
}  // namespace warpline::test
