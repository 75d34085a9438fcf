#include "platform/host/wl_machine.h"

#include <cstdio>
#include <memory>
#include <new>

#include "platform/host/host_machine.h"
#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"
#include "rtl_models/pcie/root_complex/root_complex_core.h"

/// The machine behind the C functions.
struct wl_machine {
  wl_machine(std::uint64_t memory_bytes, const warpline::PcieSystemParameters& parameters)
      : system(parameters, kMegahertz, memory_bytes), host(system) {}

  /// The number that a device has among those that the host has found; beyond them if it is not there.
  [[nodiscard]] unsigned number_of(unsigned device) const {
    const auto& devices = host.devices();
    unsigned i = 0;
    while (i < devices.size() && devices[i].port != device) ++i;
    return i;
  }

  static constexpr unsigned kMegahertz = 1000;
  warpline::PcieSystem system;
  warpline::HostMachine host;
};

wl_machine* wl_machine_create(const wl_machine_options* options) {
  const wl_machine_options given = options != nullptr ? *options : wl_machine_options{};
  warpline::PcieSystemParameters parameters;
  if (given.peers != 0) parameters.peers = given.peers;
  parameters.peer.completion_spread = given.spread_cycles;
  if (given.log_entries != 0) parameters.peer.log_entries = given.log_entries;
  for (const warpline::Problem& p : parameters.problems("machine"))
    std::fprintf(stderr, "wl_machine: %s: %s\n", p.path.c_str(), p.message.c_str());
  if (!parameters.problems("machine").empty()) return nullptr;
  const std::size_t bytes = given.memory_bytes != 0 ? given.memory_bytes : std::size_t{64} << 20U;
  constexpr std::uint64_t kMost = warpline::RootComplexCore::kInterruptWindow;
  if (bytes < 8192 || bytes > kMost) {
    std::fprintf(stderr, "wl_machine: a machine has between 8 KiB and 1 TiB of memory, not %zu bytes\n",
                 bytes);
    return nullptr;
  }
  std::unique_ptr<wl_machine> machine;
  try {
    machine = std::make_unique<wl_machine>(bytes, parameters);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "wl_machine: there is no room for a machine with %zu bytes of memory\n", bytes);
    return nullptr;
  }
  machine->system.set_loose(given.loosely_timed != 0);
  machine->host.on_log([](wl_log_level level, const std::string& text) {
    const char* const what = level == WL_LOG_ERROR ? "error" : level == WL_LOG_WARNING ? "warning" : "note";
    std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  });
  machine->host.enumerate();
  return machine.release();
}

void wl_machine_destroy(wl_machine* machine) {
  delete machine;
}

const wl_port* wl_machine_port(wl_machine* machine, unsigned device) {
  const unsigned found = machine->number_of(device);
  return found < machine->host.devices().size() ? &machine->host.port_of(found) : nullptr;
}

int wl_machine_map(wl_machine* machine, unsigned device, unsigned bar, std::uint64_t offset,
                   std::uint64_t bytes, wl_mapping mapping) {
  const unsigned found = machine->number_of(device);
  const bool combining = mapping == WL_MAPPING_WRITE_COMBINING;
  const std::string why = found < machine->host.devices().size()
                              ? machine->host.map(found, bar, offset, bytes,
                                                  combining ? warpline::MemoryType::write_combining
                                                            : warpline::MemoryType::uncached)
                              : "nobody answers";
  if (!why.empty()) std::fprintf(stderr, "wl_machine: device %u: %s\n", device, why.c_str());
  return why.empty() ? 1 : 0;
}

void* wl_machine_memory(wl_machine* machine, std::size_t bytes) {
  return machine->host.allocate(bytes, 4096);
}

std::uint64_t wl_machine_cycles(const wl_machine* machine) {
  return machine->host.now();
}

void wl_machine_remove(wl_machine* machine, unsigned device) {
  if (device < machine->system.functions()) machine->system.set_present(device, false);
}

void wl_machine_insert(wl_machine* machine, unsigned device) {
  if (device < machine->system.functions()) machine->system.set_present(device, true);
  machine->host.enumerate();
}

void wl_machine_print_log(const wl_machine* machine, unsigned device, int json) {
  const warpline::PcieSystem& system = machine->system;
  if (device >= system.functions()) return;
  const warpline::AccessLog& log = system.access_log(device);
  const warpline::EndpointFunction& function = system.function(device).function();
  if (const unsigned long long forgotten = log.forgotten(); forgotten != 0)
    std::printf(json != 0 ? "{\"forgotten\": %llu}\n" : "%llu older accesses were forgotten (log_entries)\n",
                forgotten);
  for (const warpline::BusAccess& access : log.entries()) {
    const auto* const map = access.bar == function.register_bar() ? &function.registers().map() : nullptr;
    const std::string line = json != 0 ? to_json(access, map) : to_text(access, map);
    std::printf("%s\n", line.c_str());
  }
}
