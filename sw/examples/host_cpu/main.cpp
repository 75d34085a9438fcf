// A platform of one's own: a processor whose software drives a device, a console, and a bus between.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdio>
#include <string>

#include "warpline/platform/host/host_cpu_module.h"
#include "wl_peer.h"

constexpr std::uint64_t kConsole = std::uint64_t{1} << 50U;

/// The console has one address; all others are the PCI Express system's.
struct Bus final : sc_core::sc_module {
  explicit Bus(const sc_core::sc_module_name& name) : sc_module(name) {
    from_cpu.register_b_transport(this, &Bus::transport);
  }
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_address() != kConsole) return to_pcie->b_transport(payload, delay);
    if (payload.is_write()) std::putchar(*payload.get_data_ptr());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += sc_core::sc_time(100, sc_core::SC_NS);
  }
  tlm_utils::simple_target_socket<Bus, 64> from_cpu{"from_cpu"};
  tlm_utils::simple_initiator_socket<Bus, 64> to_pcie{"to_pcie"};
};

int g_status = 1;

/// Native code: has the device add 5 to a number in memory, and waits for its interrupt.
void software(warpline::HostCpu& cpu) {
  wl_peer peer;
  wl_peer_slot slots[4];
  wl_peer_queue_options queue{};
  queue.order = 2;
  queue.submissions = cpu.allocate(4 * WL_PEER_COMMAND_BYTES);
  queue.completions = cpu.allocate(4 * WL_PEER_COMPLETION_BYTES);
  queue.slots = slots;
  queue.interrupt = 1;
  auto* const number = static_cast<std::uint64_t*>(cpu.allocate(8));
  *number = 37;
  const wl_port& port = cpu.port_of(0);
  wl_peer_command add{};
  add.opcode = WL_PEER_OPCODE_FETCH_ADD;
  add.length = 8;
  add.operand = 5;
  add.destination = port.dma_map(port.context, number, 8, WL_DMA_BOTH);
  wl_peer_completion done{};
  const bool right = wl_peer_probe(&peer, &port) == WL_OK && wl_peer_start(&peer) == WL_OK &&
                     wl_peer_queue_create(&peer, 0, &queue) == WL_OK &&
                     wl_peer_submit(&peer, 0, &add) == WL_OK && wl_peer_ring(&peer, 0) == WL_OK &&
                     wl_peer_wait(&peer, 0, 1000, &done) == WL_OK && *number == 42;
  for (const char c : "the number is " + std::to_string(*number) + "\n")
    cpu.store(kConsole, 1, static_cast<std::uint8_t>(c));
  g_status = right ? 0 : 1;
  sc_core::sc_stop();
}

int sc_main(int /*argc*/, char* /*argv*/[]) {
  warpline::PcieSystemModule pcie("pcie");
  warpline::HostCpu cpu("cpu", pcie);
  Bus bus("bus");
  cpu.to_memory().bind(bus.from_cpu);
  bus.to_pcie.bind(pcie.from_cpu());
  pcie.to_interrupts().bind(cpu.from_interrupts());
  cpu.add_thread(software);
  sc_core::sc_start();
  std::printf("after %s\n", sc_core::sc_time_stamp().to_string().c_str());
  return g_status;
}
