#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "platform/host/host_machine.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/nvme/nvme_device.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline::test {

/// A command as a driver writes it.
struct Sqe {
  unsigned opcode = 0;
  std::uint32_t nsid = 0;
  std::uint64_t data1 = 0, data2 = 0;
  std::uint32_t dword10 = 0, dword11 = 0, dword12 = 0, dword13 = 0;
  unsigned flags = 0;
};

/// A completion.
struct Cqe {
  bool came = false;
  std::uint32_t result = 0;
  unsigned queue = 0, id = 0;
  unsigned head = 0;  ///< of the submission queue
  unsigned code = 0;  ///< status code type and status code
  bool more = false, do_not_retry = false;
};

/// A disk of 1 MiB that is quick.
inline PcieSystemParameters nvme_parameters() {
  PcieSystemParameters p;
  p.peers = 0;
  p.nvme.count = 1;
  p.nvme.namespaces = 2;
  p.nvme.namespace_bytes = 1U << 20U;
  p.nvme.queues = 4;
  p.nvme.queue_entries = 64;
  p.nvme.commands = 16;
  p.nvme.read_ns = 700;
  p.nvme.write_ns = 300;
  p.nvme.flush_ns = 500;
  return p;
}

/// A host with an NVMe controller, and what a driver does with it: polling, one thread.
class NvmeBench {
 public:
  explicit NvmeBench(const PcieSystemParameters& parameters = nvme_parameters(), bool loose = false,
                     TickMode mode = TickMode::lazy)
      : engine(mode), memory(1U << 24U), system(engine, {}, 1000, parameters, memory) {
    system.set_loose(loose);
    host.enumerate();
    bar = host.devices()[0].bars[NvmeCore::kRegisterBar].address;
  }

  NvmeCore& core() { return system.nvme(0).core(); }
  std::uint64_t read(std::uint64_t offset, unsigned bytes = 4) { return host.load(bar + offset, bytes); }
  void write(std::uint64_t offset, std::uint64_t value, unsigned bytes = 4) {
    host.store(bar + offset, bytes, value);
  }

  struct Memory {
    std::uint8_t* bytes = nullptr;
    std::uint64_t bus = 0;
  };
  Memory share(std::size_t bytes) {
    Memory m;
    m.bytes = static_cast<std::uint8_t*>(host.allocate(bytes, 4096));
    EXPECT_NE(m.bytes, nullptr);
    std::memset(m.bytes, 0, bytes);
    m.bus = host.map_dma(0, m.bytes, bytes, WL_DMA_BOTH).value();
    return m;
  }

  struct Queue {
    Memory submissions, completions;
    unsigned entries = 0;
    unsigned tail = 0, head = 0, phase = 1;
    unsigned next_id = 1;
    bool scattered = false;  ///< their pages lie in the other order
    /// Where entry `n` of those of `bytes` bytes lies.
    [[nodiscard]] std::size_t place(std::size_t bytes, std::size_t n) const {
      const std::size_t at = bytes * n;
      return scattered ? align_up(bytes * entries, 4096) - 4096 - at / 4096 * 4096 + at % 4096 : at;
    }
  };
  /// Resets and enables the controller, with an admin queue of `entries`.
  void start(unsigned entries = 16, unsigned page_order = 0) {
    write(0x14, 0);
    wait_ready(false);
    queues.clear();
    queues.resize(5);
    queues[0] = new_queue(entries);
    write(0x24, (entries - 1) << 16U | (entries - 1));
    write(0x28, queues[0].submissions.bus, 8);
    write(0x30, queues[0].completions.bus, 8);
    write(0x14, 0x0046'0001 | page_order << 7U);
    wait_ready(true);
  }
  void wait_ready(bool ready) {
    for (int i = 0; i < 100 && ((read(0x1C) & 1U) != 0) != ready; ++i) host.pass(1000);
    EXPECT_EQ((read(0x1C) & 1U) != 0, ready);
  }
  Queue new_queue(unsigned entries) {
    Queue q;
    q.entries = entries;
    q.submissions = share(align_up(64 * entries, 4096));
    q.completions = share(align_up(16 * entries, 4096));
    return q;
  }
  /// Makes I/O queue pair `number`; interrupts by the vector of its number.
  Cqe create(unsigned number, unsigned entries = 16, bool interrupts = false) {
    queues[number] = new_queue(entries);
    Sqe c;
    c.opcode = 5;
    c.data1 = queues[number].completions.bus;
    c.dword10 = (entries - 1) << 16U | number;
    c.dword11 = number << 16U | (interrupts ? 2U : 0U) | 1U;
    Cqe done = run(0, c);
    if (!done.came || done.code != 0) return done;
    c.opcode = 1;
    c.data1 = queues[number].submissions.bus;
    c.dword11 = number << 16U | 1U;
    return run(0, c);
  }
  /// Makes I/O queue pair `number` in pages that do not follow each other. `list`: room for their addresses.
  Cqe create_scattered(unsigned number, unsigned entries, const Memory& list) {
    Queue& q = queues[number] = new_queue(entries);
    q.scattered = true;
    write_list(list, q.completions.bus, q, 16);
    const std::uint32_t dword10 = (entries - 1) << 16U | number;
    const Cqe done = run(0, {5, 0, list.bus, 0, dword10, number << 16U});
    if (!done.came || done.code != 0) return done;
    write_list(list, q.submissions.bus, q, 64);
    return run(0, {1, 0, list.bus, 0, dword10, number << 16U});
  }
  /// Writes a PRP list of the pages of a queue at `bus`, with entries of `bytes` bytes.
  static void write_list(const Memory& list, std::uint64_t bus, const Queue& q, std::size_t bytes) {
    std::uint64_t at = 0;
    for (std::size_t n = 0; n < q.entries; n += 4096 / bytes, at += 8) {
      if (at % 4096 == 4088 && n + 4096 / bytes < q.entries) {
        put_number(list.bytes + at, 8, list.bus + at + 8);
        at += 8;
      }
      put_number(list.bytes + at, 8, bus + q.place(bytes, n));
    }
  }
  /// Puts a command into a queue, and rings. Returns its identifier.
  unsigned submit(unsigned queue, const Sqe& command, bool rings = true) {
    Queue& q = queues[queue];
    std::uint8_t* const at = q.submissions.bytes + q.place(64, q.tail);
    const unsigned id = q.next_id++ & 0xFFFFU;
    std::memset(at, 0, 64);
    at[0] = static_cast<std::uint8_t>(command.opcode);
    at[1] = static_cast<std::uint8_t>(command.flags);
    put_number(at + 2, 2, id);
    put_number(at + 4, 4, command.nsid);
    put_number(at + 24, 8, command.data1);
    put_number(at + 32, 8, command.data2);
    put_number(at + 40, 4, command.dword10);
    put_number(at + 44, 4, command.dword11);
    put_number(at + 48, 4, command.dword12);
    put_number(at + 52, 4, command.dword13);
    q.tail = (q.tail + 1) % q.entries;
    if (rings) ring(queue);
    return id;
  }
  void ring(unsigned queue) { write(0x1000 + 8 * queue, queues[queue].tail); }
  /// The next completion, if there is one.
  Cqe poll(unsigned queue) {
    Queue& q = queues[queue];
    const std::uint8_t* const at = q.completions.bytes + q.place(16, q.head);
    const auto status = static_cast<unsigned>(number_at(at + 14, 2));
    Cqe c;
    if ((status & 1U) != q.phase) return c;
    c.came = true;
    c.result = static_cast<std::uint32_t>(number_at(at, 4));
    c.head = static_cast<unsigned>(number_at(at + 8, 2));
    c.queue = static_cast<unsigned>(number_at(at + 10, 2));
    c.id = static_cast<unsigned>(number_at(at + 12, 2));
    c.code = status >> 1U & 0x7FFU;
    c.more = (status >> 14U & 1U) != 0;
    c.do_not_retry = (status >> 15U) != 0;
    q.head = (q.head + 1) % q.entries;
    if (q.head == 0) q.phase ^= 1U;
    write(0x1004 + 8 * queue, q.head);
    return c;
  }
  Cqe wait(unsigned queue, unsigned steps = 20000) {
    for (unsigned i = 0; i < steps; ++i) {
      if (const Cqe c = poll(queue); c.came) return c;
      host.pass(100);
    }
    return {};
  }
  Cqe run(unsigned queue, const Sqe& command) {
    const unsigned id = submit(queue, command);
    const Cqe c = wait(queue);
    EXPECT_TRUE(!c.came || c.id == id);
    return c;
  }
  /// A read, write or the like of `blocks` blocks, whose data lies at `bus`, in pages one behind the other.
  Sqe blocks(unsigned opcode, std::uint64_t first, unsigned count, const Memory& data, unsigned offset = 0,
             std::uint32_t nsid = 1, unsigned block_bytes = 512) {
    Sqe c;
    c.opcode = opcode;
    c.nsid = nsid;
    c.dword10 = static_cast<std::uint32_t>(first);
    c.dword11 = static_cast<std::uint32_t>(first >> 32U);
    c.dword12 = count - 1;
    point(c, data.bus + offset, count * block_bytes);
    return c;
  }
  /// PRP entries for contiguous data.
  void point(Sqe& c, std::uint64_t bus, std::uint64_t bytes) {
    c.data1 = bus;
    const std::uint64_t first = 4096 - bus % 4096;
    if (bytes <= first) return;
    const std::uint64_t pages = (bytes - first + 4095) / 4096, second = bus + first;
    if (pages == 1) {
      c.data2 = second;
      return;
    }
    if (list_.bytes == nullptr) list_ = share(65536);
    // A list of its own for each command, at an odd place now and then.
    const std::uint64_t bytes_of_list = 8 * pages;
    if (list_at_ % 4096 + bytes_of_list > 4096) list_at_ = align_up(list_at_, 4096);
    if (list_at_ + 4096 > 65536) list_at_ = 0;
    for (std::uint64_t i = 0; i < pages; ++i)
      put_number(list_.bytes + list_at_ + 8 * i, 8, second + 4096 * i);
    c.data2 = list_.bus + list_at_;
    list_at_ += bytes_of_list;
  }
  /// Identify, a log page or a feature that returns data.
  std::vector<std::uint8_t> page(unsigned opcode, std::uint32_t nsid, std::uint32_t dword10,
                                 std::uint32_t dword11 = 0, unsigned bytes = 4096) {
    const Memory m = share(8192);
    Sqe c;
    c.opcode = opcode;
    c.nsid = nsid;
    c.dword10 = dword10;
    c.dword11 = dword11;
    point(c, m.bus, bytes);
    const Cqe done = run(0, c);
    EXPECT_TRUE(done.came);
    EXPECT_EQ(done.code, 0U);
    return {m.bytes, m.bytes + bytes};
  }
  std::vector<std::uint8_t> log(unsigned id, unsigned bytes, bool retain = false) {
    return page(2, 0xFFFF'FFFF, id | (bytes / 4 - 1) << 16U | (retain ? 1U << 15U : 0), 0, bytes);
  }
  Cqe set_feature(unsigned feature, std::uint32_t value) {
    Sqe c;
    c.opcode = 9;
    c.dword10 = feature;
    c.dword11 = value;
    return run(0, c);
  }

  Engine engine;
  MemoryImage memory;
  PcieSystem system;
  HostMachine host{system};
  std::uint64_t bar = 0;
  std::vector<Queue> queues;

 private:
  Memory list_;
  std::uint64_t list_at_ = 0;
};

}  // namespace warpline::test
