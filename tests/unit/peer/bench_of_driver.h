#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "warpline/host/host_machine.h"
#include "wl_peer.h"

namespace warpline::test {

/// A host with a peer behind its root complex, and memory for what a driver needs.
class BenchOfDriver {
 public:
  explicit BenchOfDriver(const PcieSystemParameters& parameters = {}, bool loose = false,
                         std::uint64_t memory_bytes = 1U << 24U, TickMode mode = TickMode::lazy,
                         unsigned mhz = 1000)
      : engine(mode), memory(memory_bytes), system(engine, {}, mhz, parameters, memory) {
    system.set_loose(loose);
    host.on_log([this](wl_log_level, const std::string& text) { logged += text + "\n"; });
    host.enumerate();
  }
  /// Probes and starts the device, and makes a queue.
  void start(unsigned order = 4, bool interrupt = false, unsigned queue = 0) {
    port = &host.port_of(0);
    ASSERT_EQ(wl_peer_probe(&peer, port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peer), WL_OK);
    create(order, interrupt, queue);
  }
  void create(unsigned order, bool interrupt, unsigned queue) {
    const std::size_t entries = std::size_t{1} << order;
    wl_peer_queue_options options{};
    options.order = order;
    options.submissions = host.allocate(entries * WL_PEER_COMMAND_BYTES);
    options.completions = host.allocate(entries * WL_PEER_COMPLETION_BYTES);
    slots.emplace_back(entries);
    options.slots = slots.back().data();
    options.interrupt = interrupt ? 1 : 0;
    ASSERT_EQ(wl_peer_queue_create(&peer, queue, &options), WL_OK);
  }
  /// Memory that the device may read and write, with its bus address.
  struct Shared {
    std::uint8_t* bytes = nullptr;
    std::uint64_t bus = 0;
  };
  Shared share(std::size_t bytes) {
    Shared s;
    s.bytes = static_cast<std::uint8_t*>(host.allocate(bytes, 4096));
    s.bus = port->dma_map(port->context, s.bytes, bytes, WL_DMA_BOTH);
    return s;
  }
  /// Submits, rings and waits.
  wl_result run(const wl_peer_command& command, wl_peer_completion& completion, unsigned queue = 0) {
    if (const wl_result r = wl_peer_submit(&peer, queue, &command); r != WL_OK) return r;
    if (const wl_result r = wl_peer_ring(&peer, queue); r != WL_OK) return r;
    return wl_peer_wait(&peer, queue, 1000, &completion);
  }

  Engine engine;
  MemoryImage memory;
  PcieSystem system;
  HostMachine host{system};
  const wl_port* port = nullptr;
  wl_peer peer{};
  std::deque<std::vector<wl_peer_slot>> slots;
  std::string logged;
};

}  // namespace warpline::test
