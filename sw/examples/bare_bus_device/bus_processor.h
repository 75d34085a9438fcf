#ifndef BUS_PROCESSOR_H
#define BUS_PROCESSOR_H

#include <cstdio>
#include <systemc>
#include <tlm>
// This leaves the inclusion of SystemC to its users.
#include <tlm_utils/simple_initiator_socket.h>

#include "bus.h"
#include "software.h"
#include "warpline/rtl_models/queue_device/queue_device_module.h"

/// A processor on the bus of bus.h: it runs the software in a thread, loosely timed, with the driver's port,
/// and hears the interrupt of vector 0.
struct BusProcessor final : sc_core::sc_module {
  BusProcessor(const sc_core::sc_module_name& name, Ram& its_ram, const warpline::QueueDeviceModule& device)
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
    SC_HAS_PROCESS(BusProcessor);
    SC_THREAD(run);
    SC_METHOD(hear);
    dont_initialize();
    sensitive << interrupt.pos();
  }
  tlm_utils::simple_initiator_socket<BusProcessor, 64> to_bus{"to_bus"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  int status = 1;          ///< of the software, once it is done
  sc_core::sc_time done;   ///< when that was
  sc_core::sc_event ends;  ///< then

 private:
  static BusProcessor& of(void* self) { return *static_cast<BusProcessor*>(self); }
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
    done = sc_core::sc_time_stamp();
    ends.notify(sc_core::SC_ZERO_TIME);
  }

  Ram& ram;
  std::uint64_t memory_of_device;
  wl_port port{};
  sc_core::sc_time local;
  sc_core::sc_event heard;
  bool pending = false;
};

#endif
