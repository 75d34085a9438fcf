#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/queue_device/queue_device_module.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/width_adapter.h"
#include "sw/driver/wl_peer.h"
#include "tests/support/checked_binding.h"

namespace warpline::test {

/// Memory that notes who came when. Addresses from kBase on are there; those of `broken` are answered with a
/// generic error, all others with an address error. By nb_transport it ends each request at once, and begins
/// each response `latency` later, with the end of the one before.
struct NotingMemory final : sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
  static constexpr std::uint64_t kBase = 0x10000;
  struct Access {
    sc_core::sc_time at;
    bool writes = false;
    std::uint64_t address = 0;
    unsigned bytes = 0;
  };
  NotingMemory(const sc_core::sc_module_name& name, std::size_t size)
      : sc_module(name), bytes(size), due("due") {
    socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    SC_HAS_PROCESS(NotingMemory);
    SC_METHOD(respond);
    dont_initialize();
    sensitive << due.get_event() << ended;
  }
  tlm::tlm_target_socket<64> socket{"socket"};
  MemoryImage bytes;
  std::vector<Access> accesses;
  std::pair<std::uint64_t, std::uint64_t> broken{0, 0};  ///< from, bytes
  sc_core::sc_time latency{10, sc_core::SC_NS};
  bool blocks = false;  ///< in b_transport, while time is loose

 private:
  void perform(tlm::tlm_generic_payload& p, const sc_core::sc_time& at_time) {
    accesses.push_back({at_time, p.is_write(), p.get_address(), p.get_data_length()});
    const std::uint64_t at = p.get_address() - kBase;
    if (at >= bytes.size() || p.get_data_length() > bytes.size() - at)
      return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (p.get_address() - broken.first < broken.second)
      return p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (p.is_read()) {
      std::memcpy(p.get_data_ptr(), bytes.at(at), p.get_data_length());
    } else {
      std::memcpy(bytes.at(at), p.get_data_ptr(), p.get_data_length());
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
    perform(p, sc_core::sc_time_stamp() + delay);
    delay += latency;
    if (!blocks) return;
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      responding = false;
      ended.notify(delay);
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    starts[&p] = sc_core::sc_time_stamp() + delay;
    due.notify(p, delay + latency);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void respond() {
    while (!responding) {
      if (ready.empty())
        for (tlm::tlm_generic_payload* p; (p = due.get_next_transaction()) != nullptr;) ready.push_back(p);
      if (ready.empty()) return;
      tlm::tlm_generic_payload& p = *ready.front();
      ready.pop_front();
      perform(p, starts.at(&p));
      responding = true;
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay;
      if (socket->nb_transport_bw(p, phase, delay) != tlm::TLM_ACCEPTED) responding = false;
      p.release();
    }
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) override {
    dmi.allow_none();
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  tlm_utils::peq_with_get<tlm::tlm_generic_payload> due;
  std::deque<tlm::tlm_generic_payload*> ready;
  std::map<tlm::tlm_generic_payload*, sc_core::sc_time> starts;
  bool responding = false;
  sc_core::sc_event ended;
};

/// The device alone on a bus, at 1 GHz: a processor that runs a function is wired to its window, its DMA goes
/// to memory, past a checker of the base protocol.
struct BareBench final : sc_core::sc_module {
  explicit BareBench(std::function<void(BareBench&)> its_software,
                     const QueueDeviceModuleParameters& parameters = {}, std::size_t memory_bytes = 1U << 20U,
                     const sc_core::sc_module_name& name = "bench")
      : sc_module(name),
        device("device", *engine, parameters),
        memory("memory", memory_bytes),
        software(std::move(its_software)) {
    cpu.bind(device.from_bus());
    device.to_memory().bind(widen.from_initiator);
    bind_checked(widen.to_target, narrow.from_initiator);
    narrow.to_target.bind(memory.socket);
    for (unsigned v = 0; v < QueueDeviceModule::kVectors; ++v) device.interrupts[v].bind(wires[v]);
    device.reset_wire.bind(reset);
    SC_HAS_PROCESS(BareBench);
    SC_THREAD(run);
    SC_METHOD(act);
    dont_initialize();
    sensitive << later;
    SC_METHOD(note_interrupts);
    dont_initialize();
    for (auto& wire : wires) sensitive << wire.value_changed_event();
  }
  /// Lets the software run to its end.
  void simulate() {
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_SEC));
    EXPECT_TRUE(over) << "the software has not come to its end";
  }

  /// An access of the processor, as it was answered.
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned bytes) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<unsigned char*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    cpu->b_transport(p, local);
    return p.get_response_status();
  }
  std::uint64_t load(std::uint64_t address, unsigned bytes = 4) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, bytes), tlm::TLM_OK_RESPONSE) << address;
    return value;
  }
  void store(std::uint64_t address, std::uint64_t value, unsigned bytes = 4) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, bytes), tlm::TLM_OK_RESPONSE) << address;
  }

  /// The eight functions, with memory by identity: `bytes` of it lie at kBase.
  wl_port port() {
    static const auto self = [](void* c) -> BareBench& { return *static_cast<BareBench*>(c); };
    wl_port p{};
    p.context = this;
    p.read = [](void* c, unsigned space, std::uint64_t offset, unsigned bytes) {
      return self(c).load(self(c).window(space) + offset, bytes);
    };
    p.write = [](void* c, unsigned space, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
      self(c).store(self(c).window(space) + offset, value, bytes);
    };
    p.barrier = [](void*) {};
    p.dma_map = [](void* c, void* from, std::size_t, unsigned) {
      return NotingMemory::kBase +
             static_cast<std::uint64_t>(static_cast<std::uint8_t*>(from) - self(c).memory.bytes.at(0));
    };
    p.dma_unmap = [](void*, std::uint64_t, std::size_t) {};
    p.wait_irq = [](void* c, unsigned vector, std::uint32_t timeout_us) {
      return self(c).wait_interrupt(vector, timeout_us) ? 1 : 0;
    };
    p.delay = [](void* c, std::uint32_t ns) { self(c).pass(sc_core::sc_time(ns, sc_core::SC_NS)); };
    p.log = [](void*, wl_log_level, const char* text) { ADD_FAILURE() << text; };
    return p;
  }
  [[nodiscard]] std::uint64_t window(unsigned space) const {
    return space == 0 ? 0 : space == 2 ? QueueDeviceModule::kMessageTable : device.memory_at();
  }
  /// The processor comes up to its local time, and lets more pass.
  void pass(const sc_core::sc_time& more) {
    wait(local + more);
    local = sc_core::SC_ZERO_TIME;
  }
  bool wait_interrupt(unsigned vector, std::uint32_t timeout_us) {
    pass(sc_core::SC_ZERO_TIME);
    const sc_core::sc_time end = sc_core::sc_time_stamp() + sc_core::sc_time(timeout_us, sc_core::SC_US);
    while (edges[vector] == 0 && sc_core::sc_time_stamp() < end)
      wait(end - sc_core::sc_time_stamp(), interrupted);
    return std::exchange(edges[vector], 0U) != 0;
  }
  /// Has somebody else do something in a while.
  void at(const sc_core::sc_time& delay, std::function<void()> its_action) {
    action = std::move(its_action);
    later.notify(delay);
  }
  /// A piece of memory, aligned to a page.
  std::uint8_t* allocate(std::size_t bytes) {
    const std::size_t at = used;
    used += (bytes + 4095) / 4096 * 4096;
    EXPECT_LE(used, memory.bytes.size());
    return memory.bytes.at(at);
  }

  std::unique_ptr<EngineModule> engine = make_engine("engine", 1000);
  QueueDeviceModule device;
  NotingMemory memory;
  WidthAdapter<64, 256> widen{"widen"};
  WidthAdapter<256, 64> narrow{"narrow"};
  tlm_utils::simple_initiator_socket<BareBench, 64> cpu{"cpu"};
  std::array<sc_core::sc_signal<bool>, QueueDeviceModule::kVectors> wires;
  sc_core::sc_signal<bool> reset{"reset"};
  sc_core::sc_time local;  ///< the processor's, ahead of the simulation's
  std::array<unsigned, QueueDeviceModule::kVectors> edges{};
  struct Edge {
    sc_core::sc_time at;
    unsigned vector = 0;
    bool high = false;
  };
  std::vector<Edge> wave;  ///< of all wires

 private:
  void act() { action(); }
  void run() {
    software(*this);
    over = true;
    sc_core::sc_pause();
  }
  void note_interrupts() {
    for (unsigned v = 0; v < wires.size(); ++v) {
      if (!wires[v].event()) continue;
      wave.push_back({sc_core::sc_time_stamp(), v, wires[v].read()});
      edges[v] += wires[v].read() ? 1 : 0;
    }
    interrupted.notify();
  }
  std::function<void(BareBench&)> software;
  std::function<void()> action;
  sc_core::sc_event later, interrupted;
  bool over = false;
  std::size_t used = 0;
};

/// A driver on it, with a queue.
struct BareDriver {
  explicit BareDriver(BareBench& its_bench) : bench(its_bench), port(its_bench.port()) {}
  void start(unsigned order = 4, bool interrupt = false, bool relaxed = false, unsigned queue = 0) {
    ASSERT_EQ(wl_peer_probe(&peer, &port), WL_OK);
    ASSERT_EQ(wl_peer_start(&peer), WL_OK);
    wl_peer_queue_options options{};
    options.order = order;
    options.submissions = bench.allocate((std::size_t{1} << order) * WL_PEER_COMMAND_BYTES);
    options.completions = bench.allocate((std::size_t{1} << order) * WL_PEER_COMPLETION_BYTES);
    slots.resize(std::size_t{1} << order);
    options.slots = slots.data();
    options.interrupt = interrupt ? 1 : 0;
    options.relaxed = relaxed ? 1 : 0;
    ASSERT_EQ(wl_peer_queue_create(&peer, queue, &options), WL_OK);
  }
  std::uint64_t bus(const void* memory) {
    return port.dma_map(port.context, const_cast<void*>(memory), 1, 0);
  }
  wl_result submit(const wl_peer_command& command) {
    const wl_result r = wl_peer_submit(&peer, 0, &command);
    return r == WL_OK ? wl_peer_ring(&peer, 0) : r;
  }
  wl_result run(const wl_peer_command& command, wl_peer_completion& done) {
    const wl_result r = submit(command);
    return r == WL_OK ? wl_peer_wait(&peer, 0, 1000, &done) : r;
  }
  [[nodiscard]] wl_peer_command copy(const void* from, const void* to, std::uint32_t bytes) {
    wl_peer_command c{};
    c.opcode = WL_PEER_OPCODE_COPY;
    c.length = bytes;
    c.source = bus(from);
    c.destination = bus(to);
    return c;
  }

  BareBench& bench;
  wl_port port;
  wl_peer peer{};
  std::vector<wl_peer_slot> slots;
};

}  // namespace warpline::test
