// The queue device on a bus of one's own: RAM, a processor whose software is C, and no PCI Express.
#include <cstdio>
#include <string>
#include <systemc>

#include "bus.h"
#include "bus_processor.h"
#include "warpline/rtl_models/queue_device/queue_device_module.h"

int sc_main(int argc, char* argv[]) {
  const auto engine = warpline::make_engine("engine", 500);  // MHz
  warpline::QueueDeviceModule device("device", *engine);
  Ram ram("ram");
  Bus bus("bus");
  BusProcessor processor("processor", ram, device);
  sc_core::sc_signal<bool> interrupt("interrupt");
  processor.to_bus.bind(bus.from_processor);
  bus.to_ram.bind(ram.socket);
  bus.to_device.bind(device.from_bus());
  device.to_memory().bind(bus.from_device);
  device.interrupts[0].bind(interrupt);
  processor.interrupt.bind(interrupt);
  engine->set_loose(argc > 1 && std::string(argv[1]) == "lt");
  sc_core::sc_start();
  std::printf("status %d after %s\n", processor.status, processor.done.to_string().c_str());
  return processor.status;
}
