#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/root_complex/root_complex_core.h"
#include "rtl_models/queue_device/queue_device.h"
#include "tests/platform/host/gpus_and_host.h"
#include "tests/platform/machine/mmio_stream.h"
#include "tests/support/environment.h"
#include "wl_peer_regs.h"

namespace warpline::test {

/// `.mmio` operations of full warps on a device behind the root complex; the whole:
/// WARPLINE_DEVICE_OPERATIONS=1000000.
inline std::uint64_t device_operations() {
  return from_environment("WARPLINE_DEVICE_OPERATIONS", 20'000) / (kStreamWarps * kWarpLanes);
}

/// Whether the device's log holds each operation that the streams make on its memory, once, in the order of
/// its warp, with its size and value.
inline void check_streams(const AccessLog& log, FunctionId requester, std::uint64_t operations) {
  std::vector<std::uint8_t> memory(std::size_t{kStreamWarps} * kWarpLanes * kStreamWindow);
  std::vector<WarpStream> streams;
  for (unsigned w = 0; w < kStreamWarps; ++w) streams.emplace_back(w, kWarpLanes);
  std::uint64_t seen = 0;
  for (const BusAccess& access : log.entries()) {
    if (access.bar != QueueDeviceCore::kBufferBar || access.kind == AccessKind::flush) continue;
    ASSERT_EQ(access.requester, requester.value);
    ASSERT_LT(access.offset, memory.size());
    const MmioStream::Operation wanted =
        streams[static_cast<unsigned>(access.offset / kStreamWindow / kWarpLanes)].next();
    ASSERT_EQ(access.kind == AccessKind::write, wanted.store) << "access " << seen;
    ASSERT_EQ(access.bytes, wanted.bytes) << "access " << seen;
    ASSERT_EQ(access.offset, wanted.offset) << "access " << seen;
    if (wanted.store) std::memcpy(&memory[wanted.offset], &wanted.value, wanted.bytes);
    ASSERT_EQ(std::memcmp(&access.value, &memory[wanted.offset], wanted.bytes), 0) << "access " << seen;
    ++seen;
  }
  EXPECT_EQ(seen, operations * kStreamWarps * kWarpLanes);
}

/// One round of the second kernel, as the device must see it.
struct RegisterStep {
  AccessKind kind;
  unsigned bytes;
  bool of_round;  ///< its value is the round's number; otherwise `value`
  std::uint64_t value;
  AccessOutcome outcome;
};
inline constexpr std::array<RegisterStep, 5> kRegisterSteps = {
    {{AccessKind::write, 4, true, 0, AccessOutcome::done},
     {AccessKind::read, 4, true, 0, AccessOutcome::done},
     {AccessKind::write, 1, false, 7, AccessOutcome::wrong_size},
     {AccessKind::read, 2, false, 0, AccessOutcome::wrong_size},
     {AccessKind::read, 4, true, 0, AccessOutcome::done}}};

/// A register is written and read, in sizes that it takes and in others, and so is the log.
inline void check_registers(const AccessLog& log, FunctionId requester, std::uint64_t rounds) {
  std::uint64_t seen = 0;
  for (const BusAccess& access : log.entries()) {
    if (access.requester != requester.value || access.kind == AccessKind::flush) continue;
    const RegisterStep& wanted = kRegisterSteps[seen % kRegisterSteps.size()];
    ASSERT_EQ(access.bar, QueueDeviceCore::kRegisterBar);
    ASSERT_EQ(access.kind, wanted.kind) << "access " << seen;
    ASSERT_EQ(access.bytes, wanted.bytes) << "access " << seen;
    ASSERT_EQ(access.outcome, wanted.outcome) << "access " << seen;
    ASSERT_EQ(access.value, wanted.of_round ? rounds - seen / kRegisterSteps.size() : wanted.value)
        << "access " << seen;
    ++seen;
  }
  EXPECT_EQ(seen, rounds * kRegisterSteps.size());
}

/// Two GPUs access a device by `.mmio`, one its memory from all lanes of several warps and with cached
/// traffic in between, the other a register: each operation arrives once, as it was made.
inline void expect_each_operation_at_the_device_once(const RunOptions& options) {
  const std::uint64_t operations = device_operations(), rounds = 4 * operations;
  GpusAndHost bench(options, {{"gpus=2"},
                              {"pcie.latency=5"},
                              {"pcie_system.gpu.latency=3"},
                              {"pcie_system.device.latency=5"},
                              {"pcie_system.peer.log_entries=100000000"}});
  const std::uint64_t bytes = std::uint64_t{kStreamWarps} * kWarpLanes * kStreamWindow;
  const std::uint64_t video = bench.platform.allocate("", bytes, Aperture::vidmem, 0);
  const GpusAndHost::Shared host = bench.share(bytes);
  const auto streams = module_of_body(mmio_kernel(), 4);
  const auto registers = module_of_body(
      "mov.u16 %h0, 7;\ncvt.u32.u64 %r1, %a1;\nAGAIN: st.mmio.relaxed.sys.global.u32 [%a0], %r1;\n"
      "ld.mmio.relaxed.sys.global.u32 %r2, [%a0];\nst.mmio.relaxed.sys.global.u8 [%a0], %h0;\n"
      "ld.mmio.relaxed.sys.global.u16 %h1, [%a0];\nld.mmio.relaxed.sys.global.u32 %r3, [%a0];\n"
      "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra AGAIN;\n",
      2);
  bench.start({{streams.get(), "k", block_of({bench.buffer, video, host.address, operations}), kStreamWarps,
                kWarpLanes},
               {registers.get(), "k", block_of({bench.registers + WL_PEER_SCRATCH_OFFSET(0), rounds})}});
  bench.finish();
  const AccessLog& log = bench.peer().log();
  check_streams(log, RootComplexCore::id_of(bench.platform.pcie()->port_of_gpu(0)), operations);
  check_registers(log, RootComplexCore::id_of(bench.platform.pcie()->port_of_gpu(1)), rounds);
  EXPECT_TRUE(bench.platform.unreconciled().empty());
}

}  // namespace warpline::test
