// Threads are made by calls.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "platform/host/host_cpu_module.h"

#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstring>
#include <string>
#include <utility>

#include "rtl_models/base/contract.h"
#include "rtl_models/pcie/root_complex/root_complex_core.h"

namespace warpline {

/// A thread, and how far it has run ahead.
struct HostCpu::Thread {
  std::function<void(HostCpu&)> function;
  sc_core::sc_process_handle process;
  tlm_utils::tlm_quantumkeeper keeper;
  tlm::tlm_generic_payload payload;
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
};

struct HostCpu::State final : tlm::tlm_bw_transport_if<>, tlm::tlm_fw_transport_if<> {
  State(HostCpu& owner, PcieSystemModule& its_system) : cpu(owner), system(its_system) {
    to_memory.bind(*this);
    from_interrupts.bind(*this);
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) override {
    return tlm::TLM_ACCEPTED;  // it makes no request that this could answer
  }
  /// It keeps no pointers.
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) override {
    std::uint32_t data = 0;
    const std::uint64_t base = RootComplexCore::kInterruptWindow;
    if (!payload.is_write()) {
      payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    } else if (payload.get_byte_enable_ptr() != nullptr) {
      payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    } else if (payload.get_data_length() != sizeof data || payload.get_streaming_width() < sizeof data) {
      payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    } else if (payload.get_address() < base ||
               payload.get_address() - base >= RootComplexCore::kInterruptWindowBytes) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else {
      std::memcpy(&data, payload.get_data_ptr(), sizeof data);
      cpu.note_interrupt(payload.get_address(), data);
      interrupted.notify(sc_core::SC_ZERO_TIME);
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) b_transport(payload, delay);
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& dmi) override {
    dmi.allow_none();
    dmi.set_start_address(0);
    dmi.set_end_address(~sc_dt::uint64{0});
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) override { return 0; }

  HostCpu& cpu;
  PcieSystemModule& system;
  InitiatorSocket to_memory{"to_memory"};
  InterruptSocket from_interrupts{"from_interrupts"};
  std::deque<Thread> threads;
  Thread* last = nullptr;  ///< who made the access before
  Thread firmware;
  sc_core::sc_event interrupted, booted, finished;
  bool is_booted = false;
  unsigned running = 0;
};

HostCpu::HostCpu(const sc_core::sc_module_name& name, PcieSystemModule& system, std::uint64_t reserved)
    : sc_module(name), Host(system.system(), reserved), state_(std::make_unique<State>(*this, system)) {
  SC_HAS_PROCESS(HostCpu);
  SC_THREAD(boot);
}

HostCpu::~HostCpu() = default;

HostCpu::InitiatorSocket& HostCpu::to_memory() {
  return state_->to_memory;
}

HostCpu::InterruptSocket& HostCpu::from_interrupts() {
  return state_->from_interrupts;
}

const sc_core::sc_event& HostCpu::booted() const {
  return state_->booted;
}

const sc_core::sc_event& HostCpu::finished() const {
  return state_->finished;
}

void HostCpu::add_thread(std::function<void(HostCpu&)> function) {
  Thread& thread = state_->threads.emplace_back();
  thread.function = std::move(function);
  ++state_->running;
  const std::string name = "thread_" + std::to_string(state_->threads.size() - 1);
  sc_core::sc_spawn([this, &thread] { run(thread); }, (std::string(this->name()) + "_" + name).c_str());
}

void HostCpu::boot() {
  state_->firmware.process = sc_core::sc_get_current_process_handle();
  state_->firmware.keeper.reset();
  enumerate();
  state_->firmware.keeper.sync();
  state_->is_booted = true;
  state_->booted.notify(sc_core::SC_ZERO_TIME);
}

void HostCpu::run(Thread& thread) {
  thread.process = sc_core::sc_get_current_process_handle();
  if (!state_->is_booted) sc_core::wait(state_->booted);
  thread.keeper.reset();
  thread.function(*this);
  thread.keeper.sync();
  if (--state_->running == 0) state_->finished.notify(sc_core::SC_ZERO_TIME);
}

/// Whose software is running. Threads change places in waits only, which anybody's code may make.
HostCpu::Thread& HostCpu::current() {
  const sc_core::sc_process_handle running = sc_core::sc_get_current_process_handle();
  if (state_->last != nullptr && state_->last->process == running) return *state_->last;
  state_->last = nullptr;
  for (Thread& thread : state_->threads)
    if (thread.process == running) state_->last = &thread;
  if (state_->firmware.process == running) state_->last = &state_->firmware;
  WARPLINE_EXPECT(state_->last != nullptr, "software runs in threads of its processor");
  return *state_->last;
}

tlm::tlm_response_status HostCpu::access(tlm::tlm_command command, std::uint64_t address, void* data,
                                         unsigned bytes) {
  Thread& thread = current();
  tlm::tlm_generic_payload& payload = thread.payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = thread.keeper.get_local_time();
  state_->to_memory->b_transport(payload, delay);
  thread.keeper.set(delay);
  if (delay != sc_core::SC_ZERO_TIME && (!state_->system.is_loose() || thread.keeper.need_sync()))
    thread.keeper.sync();
  return thread.status = payload.get_response_status();
}

std::uint64_t HostCpu::load(std::uint64_t address, unsigned bytes) {
  const std::uint64_t ones = bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8U * bytes) - 1;
  std::uint64_t value = 0;
  return access(tlm::TLM_READ_COMMAND, address, &value, bytes) == tlm::TLM_OK_RESPONSE ? value : ones;
}

void HostCpu::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  access(tlm::TLM_WRITE_COMMAND, address, &value, bytes);
}

void HostCpu::barrier() {
  state_->system.barrier(current().keeper.get_local_time());
}

std::uint64_t HostCpu::load_config(FunctionId id, std::uint64_t offset, unsigned bytes) {
  return load(PcieSystemModule::config_address(id, offset), bytes);
}

void HostCpu::store_config(FunctionId id, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  store(PcieSystemModule::config_address(id, offset), bytes, value);
}

/// What is due at the end of the delay has happened then.
void HostCpu::delay_ns(std::uint64_t nanoseconds) {
  Thread& thread = current();
  sc_core::wait(thread.keeper.get_local_time() +
                sc_core::sc_time(static_cast<double>(nanoseconds), sc_core::SC_NS));
  sc_core::wait(sc_core::SC_ZERO_TIME);
  thread.keeper.reset();
}

bool HostCpu::wait_interrupt(unsigned device, unsigned vector, std::uint32_t timeout_us) {
  Thread& thread = current();
  if (thread.keeper.get_local_time() != sc_core::SC_ZERO_TIME) thread.keeper.sync();
  const sc_core::sc_time end = sc_core::sc_time_stamp() + sc_core::sc_time(timeout_us, sc_core::SC_US);
  bool taken = take_interrupt(device, vector);
  while (!taken && sc_core::sc_time_stamp() < end) {
    sc_core::wait(end - sc_core::sc_time_stamp(), state_->interrupted);
    taken = take_interrupt(device, vector);
  }
  // One that arrives at the very end is on its way to this processor for a few delta cycles.
  for (unsigned i = 0; i < 3 && !taken; ++i) {
    sc_core::wait(sc_core::SC_ZERO_TIME);
    taken = take_interrupt(device, vector);
  }
  thread.keeper.reset();
  return taken;
}

sc_core::sc_time HostCpu::local_time() {
  return current().keeper.get_current_time();
}

tlm::tlm_response_status HostCpu::status() {
  return current().status;
}

}  // namespace warpline
