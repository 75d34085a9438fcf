#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/pcie_system.h"
#include "platform/serve/access_watches.h"
#include "platform/serve/served_event.h"
#include "platform/serve/served_machine.h"
#include "platform/serve/served_system.h"
#include "platform/vfio_user/client_machine.h"
#include "tests/platform/serve/serving_thread.h"
#include "wl_gpu_regs.h"

namespace warpline::test {

/// count(to, first): thread i stores first + i. twice(to, from): what is there, doubled. store(to, value):
/// one thread, as a register is written. sum(to): over a block, by shared memory. spin(): for ever.
/// counter(to): adds to a variable of the module, and stores what it was.
inline const std::string kGpuProgram = R"(
.version 8.2
.target sm_80
.address_size 64
.global .align 4 .u32 calls = 5;
.extern .shared .align 4 .b8 room[];

.visible .entry count(.param .u64 to, .param .u64 first)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  ld.param.u32 %r5, [first];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d3, %d1, %d2;
  add.u32 %r5, %r5, %r4;
  st.global.u32 [%d3], %r5;
  ret;
}
.visible .entry twice(.param .u64 to, .param .u64 from)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d2, [from];
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %d3, %r3, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.u32 %r1, [%d2];
  add.u32 %r1, %r1, %r1;
  st.global.u32 [%d1], %r1;
  ret;
}
.visible .entry store(.param .u64 to, .param .u64 value)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [to];
  ld.param.u32 %r1, [value];
  st.mmio.relaxed.sys.global.u32 [%d1], %r1;
  ret;
}
.visible .entry sum(.param .u64 to)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  .reg .pred %p<3>;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, room;
  mad.lo.u32 %r3, %r1, 4, %r2;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra END;
  ld.shared.u32 %r4, [%r2+4];
  ld.shared.u32 %r5, [%r2+124];
  add.u32 %r4, %r4, %r5;
  st.global.u32 [%d1], %r4;
END:
  ret;
}
.visible .entry spin(.param .u64 flag)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<3>;
  .reg .pred %p<3>;
  ld.param.u64 %d1, [flag];
AGAIN:
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}
.visible .entry counter(.param .u64 to)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [to];
  atom.global.add.u32 %r1, [calls], 1;
  st.global.u32 [%d1], %r1;
  ret;
}
)";

/// How a served GPU is to be served.
struct GpuBenchOptions {
  GpuConfig config;
  double pace = 0;
  ServedTape* tape = nullptr;
};

/// GPUs that are served by a thread, one unless settings say otherwise, with a queue device in front of them.
class ServedGpuBench final : public ServingThread {
 public:
  explicit ServedGpuBench(bool loose) : ServedGpuBench(loose, {config({}), 0, nullptr}) {}
  ServedGpuBench(bool loose, const GpuBenchOptions& options)
      : all_(options.config), machine_(all_.system(), all_.gpus()), watches_(all_.system()) {
    machine_.tape_by(options.tape);
    machine_.set_loose(loose);
    start(machine_, all_.system().mhz(), watches_, options.pace);
  }
  ~ServedGpuBench() { stop(); }

  static constexpr unsigned kPeer = 0, kGpu = 1;
  /// With these settings.
  static GpuConfig config(const std::vector<std::string>& settings) {
    std::vector<std::string> all = {"pcie.registers=true", "pcie_system.peers=1"};
    all.insert(all.end(), settings.begin(), settings.end());
    auto loaded = load_gpu("mini", all);
    EXPECT_TRUE(loaded.ok()) << loaded.faults().front().text();
    return loaded.value();
  }
  [[nodiscard]] std::unique_ptr<vfio_user::ClientMachine> client(unsigned port,
                                                                 bool by_message = false) const {
    vfio_user::ClientMachine::Options options;
    options.by_message = by_message;
    return ServingThread::client(port, options);
  }
  [[nodiscard]] ServedMachine& machine() { return machine_; }
  [[nodiscard]] const AccessWatches& watches() const { return watches_; }

 private:
  ServedSystem all_;
  ServedMachine machine_;
  AccessWatches watches_;
};

/// A machine's software at a served GPU.
class GpuSoftware {
 public:
  explicit GpuSoftware(vfio_user::ClientMachine& machine) : machine_(machine) {
    first_ = wide(WL_GPU_MEMORY_FIRST_OFFSET);
    base_ = wide(WL_GPU_MEMORY_BASE_OFFSET);
  }
  [[nodiscard]] std::uint32_t word(std::uint64_t offset) {
    return static_cast<std::uint32_t>(read(offset, 4));
  }
  [[nodiscard]] std::uint64_t wide(std::uint64_t offset) { return read(offset, 8); }
  void set(std::uint64_t offset, std::uint64_t value, unsigned bytes = 4) {
    machine_.port().write(machine_.port().context, WL_GPU_BAR, offset, bytes, value);
  }
  /// Offsets in video memory.
  void upload(std::uint64_t offset, const void* data, std::size_t bytes) {
    constexpr std::size_t kMost = 4096;
    const auto* const from = static_cast<const std::uint8_t*>(data);
    for (std::size_t at = 0; at < bytes; at += kMost)
      EXPECT_EQ(machine_.connection().write(0, offset + at, from + at,
                                            static_cast<std::uint32_t>(std::min(kMost, bytes - at))),
                0);
  }
  [[nodiscard]] std::vector<std::uint32_t> words(std::uint64_t offset, unsigned count) {
    std::vector<std::uint32_t> out(count);
    EXPECT_EQ(machine_.connection().read(0, offset, out.data(), 4 * count), 0);
    return out;
  }
  /// Places in video memory that are software's.
  [[nodiscard]] std::uint64_t at(std::uint64_t offset) const { return first_ + offset; }
  [[nodiscard]] std::uint64_t address(std::uint64_t offset) const { return base_ + offset; }

  static constexpr std::uint64_t kDescriptor = 0, kName = 0x100, kParameters = 0x200, kMessage = 0x400,
                                 kProgram = 0x1000, kData = 0x20000;
  struct Launch {
    std::string program, entry;
    std::vector<std::uint64_t> parameters;
    std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
    std::uint32_t shared = 0;
  };
  /// Lays out a launch.
  std::array<std::uint8_t, WL_GPU_LAUNCH_BYTES> lay(const Launch& launch) {
    std::array<std::uint8_t, WL_GPU_LAUNCH_BYTES> d{};
    const auto put = [&d](unsigned offset, auto value) { std::memcpy(&d[offset], &value, sizeof value); };
    put(WL_GPU_LAUNCH_PROGRAM_OFFSET, at(kProgram));
    put(WL_GPU_LAUNCH_ENTRY_OFFSET, at(kName));
    put(WL_GPU_LAUNCH_PARAMETERS_OFFSET, at(kParameters));
    put(WL_GPU_LAUNCH_MESSAGE_OFFSET, at(kMessage));
    put(WL_GPU_LAUNCH_PROGRAM_LENGTH_OFFSET, static_cast<std::uint32_t>(launch.program.size()));
    put(WL_GPU_LAUNCH_ENTRY_LENGTH_OFFSET, static_cast<std::uint32_t>(launch.entry.size()));
    put(WL_GPU_LAUNCH_PARAMETER_LENGTH_OFFSET, static_cast<std::uint32_t>(8 * launch.parameters.size()));
    put(WL_GPU_LAUNCH_MESSAGE_LENGTH_OFFSET, std::uint32_t{1024});
    put(WL_GPU_LAUNCH_SHARED_LENGTH_OFFSET, launch.shared);
    for (unsigned i = 0; i < 3; ++i) {
      put(WL_GPU_LAUNCH_GRID_X_OFFSET + 4 * i, launch.grid[i]);
      put(WL_GPU_LAUNCH_BLOCK_X_OFFSET + 4 * i, launch.block[i]);
    }
    upload(at(kProgram), launch.program.data(), launch.program.size());
    upload(at(kName), launch.entry.data(), launch.entry.size());
    upload(at(kParameters), launch.parameters.data(), 8 * launch.parameters.size());
    return d;
  }
  void start(const Launch& launch) {
    const auto d = lay(launch);
    start(d.data());
  }
  void start(const std::uint8_t* descriptor) {
    upload(at(kDescriptor), descriptor, WL_GPU_LAUNCH_BYTES);
    set(WL_GPU_LAUNCH_DESCRIPTOR_OFFSET, at(kDescriptor), 8);
    set(WL_GPU_LAUNCH_DOORBELL_OFFSET, 1);
  }
  [[nodiscard]] std::uint32_t state() { return word(WL_GPU_STATUS_OFFSET) & WL_GPU_STATUS_STATE_MASK; }
  /// How it ended.
  [[nodiscard]] std::uint32_t wait() {
    for (unsigned looks = 0; looks < 1'000'000; ++looks)
      if (const std::uint32_t now = state(); now != WL_GPU_STATE_RUNNING) return now;
    return WL_GPU_STATE_RUNNING;
  }
  [[nodiscard]] std::uint32_t run(const Launch& launch) {
    start(launch);
    return wait();
  }
  [[nodiscard]] std::string message() {
    std::array<char, 1025> text{};
    EXPECT_EQ(machine_.connection().read(0, at(kMessage), text.data(), 1024), 0);
    return text.data();
  }
  void open_window(unsigned n, std::uint64_t bus, std::uint64_t address, std::uint64_t bytes,
                   bool prefetchable) {
    set(WL_GPU_WINDOW_BUS_OFFSET(n), bus, 8);
    set(WL_GPU_WINDOW_ADDRESS_OFFSET(n), address, 8);
    set(WL_GPU_WINDOW_BYTES_OFFSET(n), bytes, 8);
    set(WL_GPU_WINDOW_CONTROL_OFFSET(n),
        WL_GPU_WINDOW_CONTROL_ENABLE_MASK | (prefetchable ? WL_GPU_WINDOW_CONTROL_PREFETCHABLE_MASK : 0U));
  }
  [[nodiscard]] bool hears_interrupt(std::uint32_t timeout_us = 10'000'000) {
    return machine_.port().wait_irq(machine_.port().context, 0, timeout_us) != 0;
  }

 private:
  [[nodiscard]] std::uint64_t read(std::uint64_t offset, unsigned bytes) {
    return machine_.port().read(machine_.port().context, WL_GPU_BAR, offset, bytes);
  }
  vfio_user::ClientMachine& machine_;
  std::uint64_t first_ = 0, base_ = 0;
};

}  // namespace warpline::test
