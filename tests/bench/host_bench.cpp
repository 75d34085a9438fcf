// Software on the host: loosely timed register accesses from C code through a HostCpu and its TLM-2.0 socket,
// and timed commands, from doorbell to completion, on the host in plain C++.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <systemc>
#include <vector>

#include "platform/host/host_cpu_module.h"
#include "platform/host/host_machine.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/memory_image.h"
#include "sw/driver/wl_peer.h"
#include "tests/bench/cpu_time.h"

int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

namespace warpline::bench {
namespace {

constexpr unsigned kRuns = 5;

PcieSystemParameters parameters() {
  PcieSystemParameters p;
  p.peer.log_entries = 1024;
  return p;
}

/// Accesses per second: a write and a read of a register, in turn.
double accesses(const wl_port& port) {
  constexpr unsigned kPairs = 500'000;
  const double start = cpu_seconds();
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    port.write(port.context, WL_PEER_BAR, WL_PEER_SCRATCH_OFFSET(0), 4, i);
    if (port.read(port.context, WL_PEER_BAR, WL_PEER_SCRATCH_OFFSET(0), 4) != i) return 0;
  }
  return 2 * kPairs / (cpu_seconds() - start);
}

/// Commands per second, one after the other; 0: one went wrong.
double commands(HostMachine& host) {
  constexpr unsigned kCommands = 50'000, kOrder = 4;
  const wl_port& port = host.port_of(0);
  std::vector<wl_peer_slot> slots(1U << kOrder);
  wl_peer peer{};
  wl_peer_queue_options options{};
  options.order = kOrder;
  options.submissions = host.allocate(slots.size() * WL_PEER_COMMAND_BYTES);
  options.completions = host.allocate(slots.size() * WL_PEER_COMPLETION_BYTES);
  options.slots = slots.data();
  if (wl_peer_probe(&peer, &port) != WL_OK || wl_peer_start(&peer) != WL_OK ||
      wl_peer_queue_create(&peer, 0, &options) != WL_OK)
    return 0;
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_NOP;
  const double start = cpu_seconds();
  for (unsigned i = 0; i < kCommands; ++i) {
    wl_peer_completion completion{};
    if (wl_peer_submit(&peer, 0, &command) != WL_OK || wl_peer_ring(&peer, 0) != WL_OK ||
        wl_peer_wait(&peer, 0, 1000, &completion) != WL_OK || completion.status != WL_PEER_STATUS_CODE_OK)
      return 0;
  }
  const double rate = kCommands / (cpu_seconds() - start);
  wl_peer_teardown(&peer);
  return rate;
}

void print(const char* what, double rate, double bar) {
  std::printf("%-52s %8.3f M/s   (bar %.1f)\n", what, 1e-6 * rate, bar);
}

void run_plain() {
  for (const bool loose : {true, false}) {
    Engine engine;
    MemoryImage memory(1U << 20U);
    PcieSystem system(engine, {}, 1000, parameters(), memory);
    system.set_loose(loose);
    HostMachine host(system);
    host.enumerate();
    double best = 0;
    for (unsigned i = 0; i < kRuns; ++i)
      best = std::max(best, loose ? accesses(host.port_of(0)) : commands(host));
    print(loose ? "register accesses, plain host, loosely timed" : "commands, plain host, timed", best,
          loose ? 2 : 0.1);
  }
}

void run_processor() {
  PcieSystemOptions options;
  options.parameters = parameters();
  PcieSystemModule system("system", options);
  HostCpu cpu("cpu", system);
  cpu.to_memory().bind(system.from_cpu());
  system.to_interrupts().bind(cpu.from_interrupts());
  system.set_loose(true);
  double best = 0;
  cpu.add_thread([&](HostCpu& host) {
    for (unsigned i = 0; i < kRuns; ++i) best = std::max(best, accesses(host.port_of(0)));
    sc_core::sc_stop();
  });
  sc_core::sc_start();
  print("register accesses, HostCpu over TLM, loosely timed", best, 2);
}

}  // namespace
}  // namespace warpline::bench

int main() {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  warpline::bench::run_plain();
  warpline::bench::run_processor();
  return 0;
}
