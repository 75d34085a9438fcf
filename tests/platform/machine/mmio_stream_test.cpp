// `.mmio` exactly once: what a device's bus shows of long random streams of its operations, with cached
// traffic between them.
#include "tests/platform/machine/mmio_stream.h"

#include <gtest/gtest.h>

#include "rtl_models/pcie/packets/far_device.h"
#include "tests/platform/machine/two_gpus.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace mmio_stream_test {

using Kind = AccessKind;

/// The device at the bus, which knows what must come.
class Device {
 public:
  explicit Device(unsigned lanes)
      : lanes_(lanes), memory_(std::size_t{kStreamWarps} * lanes * kStreamWindow) {
    for (unsigned w = 0; w < kStreamWarps; ++w) streams_.emplace_back(w, lanes);
  }
  void see(const BusAccess& access) {
    const bool registers = access.offset < memory_.size() && access.kind != Kind::flush;
    ASSERT_EQ(access.exact, registers) << "at " << access.offset;
    if (!registers || wrong_) return;
    const auto warp = static_cast<unsigned>(access.offset / kStreamWindow / lanes_);
    const MmioStream::Operation wanted = streams_[warp].next();
    const bool matches = access.kind == (wanted.store ? Kind::write : Kind::read) &&
                         access.bytes == wanted.bytes && access.offset == wanted.offset;
    if (matches && wanted.store) __builtin_memcpy(&memory_[wanted.offset], &wanted.value, wanted.bytes);
    wrong_ = !matches || __builtin_memcmp(&access.value, &memory_[wanted.offset], wanted.bytes) != 0;
    EXPECT_FALSE(wrong_) << "access " << seen_ << ", of warp " << warp << ": " << access.bytes << " bytes at "
                         << access.offset << " instead of " << wanted.bytes << " at " << wanted.offset;
    ++seen_;
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }

 private:
  unsigned lanes_;
  std::vector<std::uint8_t> memory_;
  std::vector<WarpStream> streams_;
  std::uint64_t seen_ = 0;
  bool wrong_ = false;
};

/// `operations` of each thread.
void expect_each_operation_once(const RunOptions& options, unsigned lanes, std::uint64_t operations) {
  TwoGpus gpus({{"pcie.latency=5"}, {"pcie.peer_latency=3"}}, options);
  const std::uint64_t bytes = kStreamWarps * lanes * kStreamWindow;
  const std::uint64_t registers = gpus.zeros(Aperture::peer, 0, bytes);
  const std::uint64_t plain = gpus.zeros(Aperture::peer, 0, kStreamWindow);
  const std::uint64_t video = gpus.zeros(Aperture::vidmem, 0, bytes);
  const std::uint64_t host = gpus.zeros(Aperture::sysmem, 0, bytes);
  Device device(lanes);
  gpus.platform().peer()->watch([&](const BusAccess& access) { device.see(access); });
  const TwoGpus::Grid grid{mmio_kernel(), {registers, video, host, operations}, kStreamWarps, lanes};
  const TwoGpus::Grid other{
      "mov.u32 %r1, 200;\nAGAIN: st.global.u32 [%a0], %r1;\nld.volatile.global.u32 %r2, [%a0+64];\n"
      "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra AGAIN;\n",
      {plain},
      2,
      1};
  gpus.run(grid, other);
  EXPECT_EQ(device.seen(), operations * kStreamWarps * lanes);
  EXPECT_TRUE(gpus.platform().unreconciled().empty());
}

/// Of each thread of full warps.
std::uint64_t operations() {
  return from_environment("WARPLINE_MMIO_OPERATIONS", 100'000) / (kStreamWarps * kWarpLanes);
}

TEST(MmioStream, ArrivesOnceInOrderAndInSize) {
  expect_each_operation_once({}, kWarpLanes, operations());
}

TEST(MmioStream, ArrivesOnceInOrderAndInSizeLooselyTimed) {
  RunOptions options;
  options.loose = true;
  expect_each_operation_once(options, kWarpLanes, operations());
}

TEST(MmioStream, OfSingleThreadsArrivesOnceInOrderAndInSize) {
  expect_each_operation_once({}, 1, 10'000);
}

TEST(MmioStream, ArrivesOnceInOrderAndInSizeInEveryDrawOfTime) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    RunOptions options;
    options.jitter = seed;
    expect_each_operation_once(options, 1, 300);
    expect_each_operation_once(options, kWarpLanes, 30);
  }
}

}  // namespace mmio_stream_test
}  // namespace warpline::test
