#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "platform/host/host_machine.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/sim/memory_image.h"
#include "sw/driver/wl_peer.h"

namespace warpline::test {

/// A driver on a host, and memory for what it needs.
class DriverBench {
 public:
  /// Of the device of root port `number`, alone of those that the host has found.
  DriverBench(Host& host, PcieSystem& system, unsigned number = 0)
      : os(host), device(system.peer(number)), number_(number) {}
  DriverBench(const DriverBench&) = delete;
  DriverBench& operator=(const DriverBench&) = delete;
  virtual ~DriverBench() = default;

  /// Probes and starts the device, and makes a queue.
  void start(unsigned order = 4, bool interrupt = false, unsigned queue = 0) {
    port = &os.port_of(number_);
    ASSERT_EQ(wl_peer_probe(&peer, port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peer), WL_OK);
    create(order, interrupt, queue);
  }
  void create(unsigned order, bool interrupt, unsigned queue) {
    const std::size_t entries = std::size_t{1} << order;
    wl_peer_queue_options options{};
    options.order = order;
    place_rings(options);
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
  virtual Shared share(std::size_t bytes) {
    Shared s;
    s.bytes = static_cast<std::uint8_t*>(os.allocate(bytes, 4096));
    s.bus = port->dma_map(port->context, s.bytes, bytes, WL_DMA_BOTH);
    return s;
  }
  /// Writes and reads such memory.
  virtual void put(const Shared& memory, std::size_t offset, const void* from, std::size_t bytes) {
    std::memcpy(memory.bytes + offset, from, bytes);
  }
  virtual void get(const Shared& memory, void* to, std::size_t bytes) {
    std::memcpy(to, memory.bytes, bytes);
  }
  /// Says where the rings of a queue lie.
  virtual void place_rings(wl_peer_queue_options& options) {
    options.submissions = os.allocate((std::size_t{1} << options.order) * WL_PEER_COMMAND_BYTES);
    options.completions = os.allocate((std::size_t{1} << options.order) * WL_PEER_COMPLETION_BYTES);
  }
  /// Submits, rings and waits.
  wl_result run(const wl_peer_command& command, wl_peer_completion& completion, unsigned queue = 0) {
    if (const wl_result r = wl_peer_submit(&peer, queue, &command); r != WL_OK) return r;
    if (const wl_result r = wl_peer_ring(&peer, queue); r != WL_OK) return r;
    return wl_peer_wait(&peer, queue, 1000, &completion);
  }

  Host& os;
  QueueDevice& device;
  const wl_port* port = nullptr;
  wl_peer peer{};
  std::deque<std::vector<wl_peer_slot>> slots;

 private:
  unsigned number_;
};

/// The engine and the rest of a machine in plain C++.
struct PlainMachine {
  PlainMachine(const PcieSystemParameters& parameters, std::uint64_t memory_bytes, TickMode mode,
               unsigned mhz)
      : engine(mode), memory(memory_bytes), system(engine, {}, mhz, parameters, memory) {}

  Engine engine;
  MemoryImage memory;
  PcieSystem system;
  HostMachine host{system};
};

/// A plain host with a peer behind its root complex.
class BenchOfDriver : public PlainMachine, public DriverBench {
 public:
  explicit BenchOfDriver(const PcieSystemParameters& parameters = {}, bool loose = false,
                         std::uint64_t memory_bytes = 1U << 24U, TickMode mode = TickMode::lazy,
                         unsigned mhz = 1000)
      : PlainMachine(parameters, memory_bytes, mode, mhz), DriverBench(host, system) {
    system.set_loose(loose);
    host.on_log([this](wl_log_level, const std::string& text) { logged += text + "\n"; });
    host.enumerate();
  }

  std::string logged;
};

}  // namespace warpline::test
