#pragma once

#include <array>
#include <cstring>
#include <stdexcept>

#include "sw/driver/wl_peer.h"
#include "tests/platform/host/inbound_scenes.h"

namespace warpline::test {

/// The first peer device, which fills video memory of the first GPU by commands from a queue in host memory.
class FillingDevice {
 public:
  struct Way {
    bool interrupt = false;  ///< it interrupts the host for completions
    bool relaxed = false;    ///< it writes with relaxed ordering
  };
  explicit FillingDevice(GpusAndHost& bench) : FillingDevice(bench, Way{}) {}
  FillingDevice(GpusAndHost& bench, const Way& way) {
    bench.open_video(0);
    wl_peer_queue_options options{};
    options.order = 3;
    options.submissions = bench.host->allocate(WL_PEER_COMMAND_BYTES << 3U);
    options.completions = bench.host->allocate(WL_PEER_COMPLETION_BYTES << 3U);
    options.slots = slots_.data();
    options.interrupt = way.interrupt ? 1 : 0;
    options.relaxed = way.relaxed ? 1 : 0;
    need(wl_peer_probe(&peer_, &bench.host->port_of(0)) == WL_OK);
    need(wl_peer_start(&peer_) == WL_OK);
    need(wl_peer_queue_create(&peer_, 0, &options) == WL_OK);
  }
  void begin(std::uint64_t bus, std::uint32_t bytes, std::uint32_t word) {
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_FILL;
    c.destination = bus;
    c.length = bytes;
    c.operand = std::uint64_t{word} << 32U | word;
    need(wl_peer_submit(&peer_, 0, &c) == WL_OK);
    need(wl_peer_ring(&peer_, 0) == WL_OK);
  }
  /// Waits for the completion of a command.
  void end() {
    wl_peer_completion completion{};
    need(wl_peer_wait(&peer_, 0, 10'000, &completion) == WL_OK);
    need(completion.status == WL_PEER_STATUS_CODE_OK);
  }

 private:
  static void need(bool done) {
    if (!done) throw std::runtime_error("the device does not do what it should");
  }
  wl_peer peer_{};
  std::array<wl_peer_slot, 8> slots_{};
};

/// A read of the BAR, which pushes the writes before it. One that was given up, as queues are drawn long,
/// says nothing.
inline void push_writes(GpusAndHost& bench, std::uint64_t bus) {
  do {
    static_cast<void>(bench.host->load(bus, 4));
  } while (bench.host->outcome() != TlpOutcome::done);
}

struct DeviceAndFlag {
  enum class Flag { in_host_memory, in_video_memory };
  Flag flag = Flag::in_host_memory;
  bool interrupt = false;
  bool reads_bar = false;  ///< the host does, before it writes the flag
};

/// The device fills video memory, and says in host memory that it has. The host then tells a kernel, by a
/// flag. How often the flag came first.
inline unsigned stale_after_device(std::uint64_t seed, const DeviceAndFlag& how) {
  GpusAndHost bench(drawn_by(seed));
  FillingDevice device(bench, {how.interrupt, false});
  const GpusAndHost::Video data = bench.video(384 * kWarpLanes), stale = bench.video(256),
                           near = bench.video(256);
  const GpusAndHost::Shared far = bench.share(4096);
  const bool elsewhere = how.flag == DeviceAndFlag::Flag::in_host_memory;
  const std::uint64_t flag = elsewhere ? far.address : near.address;
  const auto module =
      module_of_body(watch("ld.acquire.sys.global.u32", "ld.volatile.global.u32", kRounds), 3);
  bench.start({{module.get(), "k", block_of({data.address, flag, stale.address}), 1, kWarpLanes}});
  for (unsigned round = 1; round <= kRounds; ++round) {
    device.begin(data.bus, 384 * kWarpLanes, round);
    device.end();
    if (how.reads_bar) push_writes(bench, data.bus);
    if (elsewhere) {
      std::memcpy(far.bytes, &round, sizeof round);
    } else {
      bench.host->store(near.bus, 4, round);
    }
    bench.host->pass(2000);
  }
  bench.finish();
  unsigned count = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) count += bench.word_at(stale.address + 4 * i);
  return count;
}

}  // namespace warpline::test
