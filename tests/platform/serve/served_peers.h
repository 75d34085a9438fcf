#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/pcie_system.h"
#include "platform/serve/access_watches.h"
#include "platform/serve/served_event.h"
#include "platform/serve/served_function.h"
#include "platform/serve/served_machine.h"
#include "platform/vfio_user/client_machine.h"
#include "sw/driver/wl_peer.h"
#include "tests/platform/serve/serving_thread.h"

namespace warpline::test {

/// Queue devices, and NVMe controllers behind them, served by a thread.
class ServedPeers final : public ServingThread {
 public:
  static constexpr unsigned kMegahertz = 1000;
  struct Options {
    unsigned peers = 1;
    bool loose = true;
    double pace = 0;
    PcieSystemParameters parameters = {};
    ServedTape* tape = nullptr;
  };
  explicit ServedPeers(Options options)
      : system_(with_peers(options), kMegahertz, 1U << 20U), machine_(system_), watches_(system_) {
    machine_.tape_by(options.tape);
    machine_.set_loose(options.loose);
    start(machine_, kMegahertz, watches_, options.pace);
  }
  ServedPeers() : ServedPeers(Options{}) {}
  ~ServedPeers() { stop(); }

  [[nodiscard]] PcieSystem& system() { return system_; }
  [[nodiscard]] ServedMachine& machine() { return machine_; }

 private:
  static PcieSystemParameters with_peers(const Options& options) {
    PcieSystemParameters parameters = options.parameters;
    parameters.peers = options.peers;
    return parameters;
  }

  PcieSystem system_;
  ServedMachine machine_;
  AccessWatches watches_;
};

/// The driver of a served device, with one queue.
class ServedDriver {
 public:
  explicit ServedDriver(vfio_user::ClientMachine& machine, bool interrupt = true) : machine_(machine) {
    EXPECT_EQ(wl_peer_probe(&peer_, &machine.port()), WL_OK);
    EXPECT_EQ(wl_peer_start(&peer_), WL_OK);
    wl_peer_queue_options options{};
    options.order = kOrder;
    options.submissions = machine.allocate(64U << kOrder);
    options.completions = machine.allocate(16U << kOrder);
    options.slots = slots_.data();
    options.interrupt = interrupt ? 1 : 0;
    EXPECT_EQ(wl_peer_queue_create(&peer_, 0, &options), WL_OK);
  }
  /// Copies between bus addresses, and waits for it. Returns the command's status.
  [[nodiscard]] std::uint16_t copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_COPY;
    command.source = from;
    command.destination = to;
    command.length = bytes;
    return done(command).status;
  }
  [[nodiscard]] wl_peer_completion done(const wl_peer_command& command) {
    EXPECT_EQ(wl_peer_submit(&peer_, 0, &command), WL_OK);
    EXPECT_EQ(wl_peer_ring(&peer_, 0), WL_OK);
    wl_peer_completion completion{};
    // However little of its processor the host leaves to the server.
    constexpr std::uint32_t kPatienceUs = 600'000'000;
    EXPECT_EQ(wl_peer_wait(&peer_, 0, kPatienceUs, &completion), WL_OK);
    return completion;
  }
  [[nodiscard]] std::uint64_t bus(void* memory) const {
    return machine_.port().dma_map(machine_.port().context, memory, 1, WL_DMA_BOTH);
  }
  [[nodiscard]] wl_peer& peer() { return peer_; }

 private:
  static constexpr unsigned kOrder = 6;
  vfio_user::ClientMachine& machine_;
  wl_peer peer_{};
  std::array<wl_peer_slot, 1U << kOrder> slots_{};
};

}  // namespace warpline::test
