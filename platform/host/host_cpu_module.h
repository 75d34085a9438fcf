#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>

#include "platform/host/host.h"
#include "platform/systemc/pcie_system_module.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// A processor that runs software natively, in threads of the simulation: each access becomes a TLM-2.0
/// transaction.
///
/// Sockets
/// - to_memory: to a from_cpu of a PcieSystemModule, directly or over a bus that keeps the addresses.
/// - from_interrupts: from its to_interrupts.
///
/// The processor boots first: it enumerates the devices of the system. Then all functions given to
/// add_thread() run, each in a thread process of its own. They share devices, memory and interrupts, as
/// threads of one kernel do; an interrupt wakes one thread of those that wait for its vector.
///
/// Time: software costs none of its own. While the system is timed each access takes as long as it blocks.
/// While it is loose each thread runs ahead of the simulation by up to the global quantum (temporal
/// decoupling); delays and waits for interrupts let everybody else catch up first. One processor boots a
/// system; further bus masters may share it once booted() has happened.
class WARPLINE_PUBLIC HostCpu final : public sc_core::sc_module, public Host {
 public:
  using InitiatorSocket = tlm::tlm_initiator_socket<PcieSystemModule::kBusBits>;
  using InterruptSocket =
      tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  /// The system outlives it, and has no other processor (std::logic_error). `reserved`: bytes at the start of
  /// system memory that are somebody else's.
  HostCpu(const sc_core::sc_module_name& name, PcieSystemModule& system, std::uint64_t reserved = 4096);
  ~HostCpu() override;

  [[nodiscard]] InitiatorSocket& to_memory();
  [[nodiscard]] InterruptSocket& from_interrupts();

  /// Runs `function` once when the processor has booted. Pre: the simulation has not started.
  void add_thread(std::function<void(HostCpu&)> function);
  /// Notified when the devices have been set up, and when all threads have returned.
  [[nodiscard]] const sc_core::sc_event& booted() const;
  [[nodiscard]] const sc_core::sc_event& finished() const;

  /// From threads of add_thread() only.
  [[nodiscard]] std::uint64_t load(std::uint64_t address, unsigned bytes) override;
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  void barrier() override;
  [[nodiscard]] std::uint64_t load_config(FunctionId id, std::uint64_t offset, unsigned bytes) override;
  void store_config(FunctionId id, std::uint64_t offset, unsigned bytes, std::uint64_t value) override;
  void delay_ns(std::uint64_t nanoseconds) override;
  bool wait_interrupt(unsigned device, unsigned vector, std::uint32_t timeout_us) override;
  /// Time as the calling thread sees it: ahead of the simulation's by what it has run ahead.
  [[nodiscard]] sc_core::sc_time local_time();
  /// How the load of this thread before went.
  [[nodiscard]] tlm::tlm_response_status status();

 private:
  struct WARPLINE_INTERNAL State;
  struct WARPLINE_INTERNAL Thread;
  void boot();
  void run(Thread& thread);
  [[nodiscard]] Thread& current();
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned bytes);
  std::unique_ptr<State> state_;
};

}  // namespace warpline
