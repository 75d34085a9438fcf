#pragma once

#include <array>

#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/platform/host/gpus_and_host.h"

namespace warpline::test {

/// What was seen of a kernel that writes to two devices, of which the first is busy, and then sets a flag in
/// the host's memory.
struct ToTwoDevices {
  bool overtaken = false;                  ///< the flag was there before everything had arrived
  std::array<std::uint64_t, 2> flushes{};  ///< reads of no byte that each device saw behind its writes
  Cycle cycles = 0;
};

/// `fence` stands between data and flag.
inline ToTwoDevices write_to_two_devices(const std::string& fence, RunOptions options) {
  constexpr unsigned kLines = 10;
  // Slow, so that what is written to the first takes long to arrive.
  GpusAndHost bench(
      std::move(options),
      {{"pcie_system.peers=2"}, {"pcie_system.device.bytes_per_cycle=1"}, {"pcie_system.device.latency=10"}});
  const GpusAndHost::Shared flag = bench.share(4096);
  std::string body = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %d0, %a0;\n";
  for (unsigned i = 0; i < kLines; ++i)
    body += "st.global.u32 [%d0+" + std::to_string(128 * i) + "], " + std::to_string(i + 1) + ";\n";
  body += "st.global.u32 [%a1], 1;\n" + fence + "st.relaxed.sys.global.u32 [%a2], 1;\n";
  const auto module = module_of_body(body, 3);
  ToTwoDevices seen;
  bench.platform.on_progress(1, [&](double) {
    const bool arrived = bench.buffer_word(32 * kLines - 1) == kLines && bench.buffer_word(0, 1) == 1;
    seen.overtaken = seen.overtaken || (flag.word(0) == 1 && !arrived);
    return true;
  });
  const std::uint64_t second = bench.map_bar(1, QueueDeviceCore::kBufferBar);
  bench.start({{module.get(), "k", block_of({bench.buffer, second, flag.address}), 1, kWarpLanes}});
  seen.cycles = bench.finish().cycles;
  for (unsigned i = 0; i < 2; ++i) {
    const auto& log = bench.peer(i).log().entries();
    for (auto access = log.rbegin(); access != log.rend(); ++access) {
      if (access->kind == AccessKind::write && access->bar == QueueDeviceCore::kBufferBar) break;
      seen.flushes[i] += access->kind == AccessKind::flush;
    }
  }
  return seen;
}

}  // namespace warpline::test
