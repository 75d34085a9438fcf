#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/machine/pcie_system.h"
#include "platform/systemc/interposer_module.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

/// What a PcieSystemModule is made of.
struct WARPLINE_PUBLIC PcieSystemOptions {
  PcieSystemParameters parameters;
  unsigned mhz = 1000;                                    ///< of the only clock
  std::uint64_t memory_bytes = std::uint64_t{64} << 20U;  ///< of system memory
  unsigned processors = 1;                                ///< sockets from_cpu
  /// How packets cross the links inside: root complex to host and devices.
  HopTransport transport = HopTransport::direct;
  std::vector<std::string> pins;  ///< patterns of hops that are opened as pins: "root.from_device[0]"
  /// Puts modules into hops there ("root.from_device[0].posted"); is asked for each. See SystemCBackend.
  Interposer interpose;
};

/// System memory, root complex and peer devices behind standard TLM-2.0 target sockets (base protocol, 64
/// bits), for a platform of anyone's: what a processor's bus leads to.
///
/// Sockets
/// - from_cpu(i): loads and stores of a processor, or of any other bus master on the host's side. All must be
/// bound: what a platform has no use for, to an IdleInitiator.
/// - to_interrupts: each MSI-X message is a write of 4 bytes to it by b_transport, as to the doorbell of an
/// interrupt
///   controller: the address is the one in the vector's table, the data the vector's message. Comes from a
///   thread process at the time at which the message arrives. May be left unbound: then nobody hears them.
///
/// Addresses, physical ones: system memory from 0; the windows of root ports, as enumeration has placed them
/// (Host::enumerate); configuration space from kConfigWindow, the register at `offset` of bus b,
/// device d and function f at kConfigWindow + (b << 20 | d << 15 | f << 12) + offset. Device i is device 0 of
/// bus i + 1.
///
/// Payloads: reads and writes of 1 to 4096 bytes that cross no 4 KiB boundary, in configuration space within
/// one register of 4 bytes; else TLM_BURST_ERROR_RESPONSE, as is streaming. Byte enables are
/// TLM_BYTE_ENABLE_ERROR_RESPONSE, any other command TLM_COMMAND_ERROR_RESPONSE. A read that nobody answers
/// returns all ones, with TLM_ADDRESS_ERROR_RESPONSE if nobody has the address, and
/// TLM_GENERIC_ERROR_RESPONSE if the device aborted it, sent damaged data or stayed silent; in configuration
/// space, where that is how software finds out who is there, with TLM_OK_RESPONSE. Writes to memory and BARs
/// are posted: they return at once and TLM_OK_RESPONSE, whatever becomes of them.
///
/// Time: at first timed. An access blocks its thread until the answer is there, while the engine lets time
/// pass; what is made at one time goes out in the next cycle; a thread that is ahead of time by a delay waits
/// for that first. See set_loose() for the other way. nb_transport is answered with the phases of the base
/// protocol. Any number of threads, and initiators of both kinds, may be at work at a time. Who cannot wait,
/// as it is no SC_THREAD, may make posted writes; all else from there is an error report and
/// TLM_GENERIC_ERROR_RESPONSE.
///
/// Parameters, for ParameterBroker: `mhz`, `memory_bytes` and the keys of PcieSystemParameters, under its
/// name; of a system that is part of a GpuSystemModule those are that module's.
///
/// Debug access reaches system memory. Direct memory access is granted to it while time is loose; never to
/// devices.
class WARPLINE_PUBLIC PcieSystemModule final : public sc_core::sc_module {
 public:
  static constexpr unsigned kBusBits = 64;
  using Socket = tlm::tlm_target_socket<kBusBits>;
  using Interrupts =
      tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  /// Configuration space of 256 buses; it lies above the interrupt window and wins over windows of root
  /// ports.
  static constexpr std::uint64_t kConfigWindow = kInterruptWindow + (std::uint64_t{1} << 28U);
  static constexpr std::uint64_t kConfigWindowBytes = std::uint64_t{1} << 28U;
  /// Where the register at `offset` of a function's configuration space is.
  [[nodiscard]] static constexpr std::uint64_t config_address(FunctionId id, std::uint64_t offset) {
    return kConfigWindow + (std::uint64_t{id.value} << 12U) + offset;
  }

  /// Throws std::invalid_argument with every fault of `options`.
  explicit PcieSystemModule(const sc_core::sc_module_name& name, const PcieSystemOptions& options = {});
  /// Around the system that is there, that of a GpuPlatform (see GpuSystemModule): its side towards the host.
  /// `engine` is the module of its engine; both outlive this. `set_time` switches the whole of what is on
  /// that engine between loosely timed and timed.
  PcieSystemModule(const sc_core::sc_module_name& name, PcieSystem& system, EngineModule& engine,
                   unsigned processors, std::function<void(bool loose)> set_time);
  ~PcieSystemModule() override;

  /// Throws std::out_of_range where there is no such socket.
  [[nodiscard]] Socket& from_cpu(unsigned i = 0);
  [[nodiscard]] Interrupts& to_interrupts();

  /// Whether accesses are loosely timed from now on: performed at once, with their latency added to the
  /// call's delay, fit for temporal decoupling. Devices work at the time of the initiator that is farthest
  /// ahead, by up to the global quantum, which becomes one microsecond if nobody has set it. Pre: idle().
  void set_loose(bool loose);
  [[nodiscard]] bool is_loose() const;
  /// A barrier of a processor that is ahead of the simulation by `delay` (HostBridge::barrier).
  void barrier(const sc_core::sc_time& delay);
  /// Whether nothing is under way.
  [[nodiscard]] bool idle() const;
  /// What is inside: for removal and reset of devices, access logs, counters, and code that plays firmware.
  [[nodiscard]] PcieSystem& system();
  [[nodiscard]] EngineModule& engine();

 private:
  struct WARPLINE_INTERNAL Own;
  struct WARPLINE_INTERNAL State;
  PcieSystemModule(const sc_core::sc_module_name& name, const std::function<std::unique_ptr<State>()>& make);
  void start_of_simulation() override;
  void deliver_interrupts();
  std::unique_ptr<State> state_;
};

}  // namespace warpline
