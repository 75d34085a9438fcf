// The queue device on a bus of one's own: RAM, a processor whose software is C, and no PCI Express.
#include <cstdio>
#include <memory>
#include <string>

#include "bus.h"
#include "software.h"
#include "warpline/rtl_models/queue_device/queue_device_module.h"

/// A processor: it runs the software in a thread, and hears the interrupt of vector 0.
struct Processor final : sc_core::sc_module {
  Processor(const sc_core::sc_module_name& name, Ram& its_ram, const warpline::QueueDeviceModule& device)
      : sc_module(name), ram(its_ram), memory_of_device(device.memory_at()) {
    port.context = this;
    port.read = [](void* self, unsigned bar, std::uint64_t offset, unsigned bytes) {
      std::uint64_t value = 0;
      of(self).access(tlm::TLM_READ_COMMAND, of(self).address_of(bar, offset), &value, bytes);
      return value;
    };
    port.write = [](void* self, unsigned bar, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
      of(self).access(tlm::TLM_WRITE_COMMAND, of(self).address_of(bar, offset), &value, bytes);
    };
    port.barrier = [](void*) {};  // accesses of this processor take effect when they are made
    port.dma_map = [](void* self, void* data, std::size_t, unsigned) {  // the bus has RAM from 0 on
      return static_cast<std::uint64_t>(static_cast<std::uint8_t*>(data) - of(self).ram.bytes.data());
    };
    port.dma_unmap = [](void*, std::uint64_t, std::size_t) {};
    port.wait_irq = [](void* self, unsigned, std::uint32_t timeout_us) {
      return of(self).wait_interrupt(timeout_us) ? 1 : 0;
    };
    port.delay = [](void* self, std::uint32_t ns) { of(self).pass(sc_core::sc_time(ns, sc_core::SC_NS)); };
    port.log = [](void*, wl_log_level, const char* text) { std::printf("%s\n", text); };
    SC_HAS_PROCESS(Processor);
    SC_THREAD(run);
    SC_METHOD(hear);
    dont_initialize();
    sensitive << interrupt.pos();
  }
  tlm_utils::simple_initiator_socket<Processor, 64> to_bus{"to_bus"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  int status = 1;

 private:
  static Processor& of(void* self) { return *static_cast<Processor*>(self); }
  /// Registers, messages and memory of the device (BARs 0, 2 and 4 in its manual) in its window.
  [[nodiscard]] std::uint64_t address_of(unsigned bar, std::uint64_t offset) const {
    const std::uint64_t at = bar == 0   ? 0
                             : bar == 2 ? warpline::QueueDeviceModule::kMessageTable
                                        : memory_of_device;
    return Bus::kDevice + at + offset;
  }
  void access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<unsigned char*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    to_bus->b_transport(p, local);
    if (!p.is_response_ok()) SC_REPORT_ERROR("/example", p.get_response_string().c_str());
  }
  /// Comes up to the processor's own time, and lets more pass.
  void pass(const sc_core::sc_time& more) {
    wait(local + more);
    local = sc_core::SC_ZERO_TIME;
  }
  bool wait_interrupt(std::uint32_t timeout_us) {
    pass(sc_core::SC_ZERO_TIME);
    if (!pending) wait(sc_core::sc_time(timeout_us, sc_core::SC_US), heard);
    const bool came = pending;
    pending = false;
    return came;
  }
  void hear() {
    pending = true;
    heard.notify();
  }
  void run() {
    status = software(&port, &ram.bytes[4096]);  // no device is let near address 0
    pass(sc_core::SC_ZERO_TIME);
    sc_core::sc_stop();
  }

  Ram& ram;
  std::uint64_t memory_of_device;
  wl_port port{};
  sc_core::sc_time local;
  sc_core::sc_event heard;
  bool pending = false;
};

int sc_main(int argc, char* argv[]) {
  const auto engine = warpline::make_engine("engine", 500);  // MHz
  warpline::QueueDeviceModule device("device", *engine);
  Ram ram("ram");
  Bus bus("bus");
  Processor processor("processor", ram, device);
  sc_core::sc_signal<bool> interrupt("interrupt");
  processor.to_bus.bind(bus.from_processor);
  bus.to_ram.bind(ram.socket);
  bus.to_device.bind(device.from_bus());
  device.to_memory().bind(bus.from_device);
  device.interrupts[0].bind(interrupt);
  processor.interrupt.bind(interrupt);
  engine->set_loose(argc > 1 && std::string(argv[1]) == "lt");
  sc_core::sc_start();
  std::printf("status %d after %s\n", processor.status, sc_core::sc_time_stamp().to_string().c_str());
  return processor.status;
}
