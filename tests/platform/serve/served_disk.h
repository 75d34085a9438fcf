#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "platform/vfio_user/client_machine.h"
#include "rtl_models/base/bits.h"

namespace warpline::test {

/// The driver of a served NVMe controller: polling, one command at a time. It has I/O queue pair 1.
class ServedDisk {
 public:
  explicit ServedDisk(vfio_user::ClientMachine& machine) : machine_(machine) {
    queues_[0] = new_queue();
    write(0x24, (kEntries - 1) << 16U | (kEntries - 1), 4);
    write(0x28, bus(queues_[0].submissions), 8);
    write(0x30, bus(queues_[0].completions), 8);
    write(0x14, 0x0046'0001, 4);
    const wl_port& port = machine_.port();
    for (unsigned i = 0; i < 1000 && (port.read(port.context, 0, 0x1C, 4) & 1U) == 0; ++i)
      port.delay(port.context, 100'000);
    queues_[1] = new_queue();
    EXPECT_EQ(run(0, 5, 0, bus(queues_[1].completions), (kEntries - 1) << 16U | 1U, 1), 0U);
    EXPECT_EQ(run(0, 1, 0, bus(queues_[1].submissions), (kEntries - 1) << 16U | 1U, 1U << 16U | 1U), 0U);
  }
  std::uint8_t* page() { return static_cast<std::uint8_t*>(machine_.allocate(4096, 4096)); }
  [[nodiscard]] std::uint64_t bus(std::uint8_t* memory) const {
    return machine_.port().dma_map(machine_.port().context, memory, 4096, WL_DMA_BOTH);
  }
  /// Does a command, and returns its status.
  unsigned run(unsigned queue, unsigned opcode, std::uint32_t nsid, std::uint64_t data, std::uint32_t dword10,
               std::uint32_t dword11 = 0, std::uint32_t dword12 = 0) {
    Queue& q = queues_[queue];
    std::uint8_t* const at = q.submissions + std::size_t{64} * q.tail;
    std::memset(at, 0, 64);
    at[0] = static_cast<std::uint8_t>(opcode);
    put_number(at + 4, 4, nsid);
    put_number(at + 24, 8, data);
    put_number(at + 40, 4, dword10);
    put_number(at + 44, 4, dword11);
    put_number(at + 48, 4, dword12);
    q.tail = (q.tail + 1) % kEntries;
    write(0x1000 + 8 * queue, q.tail, 4);
    auto* const state =
        static_cast<std::uint16_t*>(static_cast<void*>(q.completions + std::size_t{16} * q.head + 14));
    unsigned status = 0;
    // As long as a busy host may keep a server from its work, with sanitizers and beside kernels.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (std::chrono::steady_clock::now() < limit) {
      status = __atomic_load_n(state, __ATOMIC_ACQUIRE);
      if ((status & 1U) == q.phase) break;
      machine_.port().delay(machine_.port().context, 20'000);
    }
    EXPECT_EQ(status & 1U, q.phase);
    q.head = (q.head + 1) % kEntries;
    if (q.head == 0) q.phase ^= 1U;
    write(0x1004 + 8 * queue, q.head, 4);
    return status >> 1U;
  }

 private:
  static constexpr unsigned kEntries = 8;
  struct Queue {
    std::uint8_t *submissions = nullptr, *completions = nullptr;
    unsigned tail = 0, head = 0, phase = 1;
  };
  Queue new_queue() {
    Queue q;
    q.submissions = page();
    q.completions = page();
    return q;
  }
  void write(std::uint64_t offset, std::uint64_t value, unsigned bytes) {
    machine_.port().write(machine_.port().context, 0, offset, bytes, value);
  }

  vfio_user::ClientMachine& machine_;
  std::array<Queue, 2> queues_{};
};

}  // namespace warpline::test
