#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/queue_device/queue_device_parameters.h"
#include "rtl_models/queue_device/registers/peer.h"
#include "rtl_models/registers/access_log.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

/// A queue device on a bus; what it is, and how it uses the bus.
struct WARPLINE_PUBLIC QueueDeviceModuleParameters {
  QueueDeviceParameters device;
  unsigned outstanding = 16;   ///< transactions of its own on the bus at once
  unsigned burst_bytes = 512;  ///< of one of them, at most; what it writes is in bursts of 512 bytes or less

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.add(device.problems(path.empty() ? "device" : path + ".device"));
    rules.need(outstanding >= 1 && outstanding <= 256, "outstanding", "must be 1 to 256 transactions");
    rules.need(burst_bytes >= 128 && burst_bytes <= 4096 && is_power_of_two(burst_bytes), "burst_bytes",
               "must be a power of two from 128 to 4096 bytes");
    return rules.take();
  }
};

/// The queue device (its manual: sw/regs/peer.toml) as a TLM-2.0 module for anybody's bus, without PCI
/// Express. It has no configuration space: its window lies wherever the bus puts it, and it may always make
/// requests.
///
/// Sockets, base protocol, 64 bits
/// - from_bus: registers and memory of the device. Addresses are offsets in its window.
/// - to_memory: what the device reads and writes, at the addresses that software gave it, and the messages of
///   interrupts.
///
/// The window, of window_bytes(): registers and doorbells from 0 (16 KiB; BAR 0 in the manual), the table of
/// interrupt messages from kMessageTable (BAR 2), the device's own memory from memory_at() (BAR 4), all else
/// TLM_ADDRESS_ERROR_RESPONSE. Payloads: reads and writes of 1 to 4096 bytes that cross no 4 KiB boundary;
/// else TLM_BURST_ERROR_RESPONSE, as is streaming. Byte enables are TLM_BYTE_ENABLE_ERROR_RESPONSE, other
/// commands TLM_COMMAND_ERROR_RESPONSE. An access that no register takes is TLM_OK_RESPONSE, reads 0, and is
/// in ERROR, as behind PCI Express. Writes return when the device has taken them.
///
/// What the device does on the bus: bursts that cross no 4 KiB boundary, without byte enables. Those that
/// write wait for each other, and what reads waits for them, unless the queue has relaxed ordering: no order
/// is asked of the bus. A fetch-add is a read and then a write, which other masters may come between. A
/// response that is no TLM_OK_RESPONSE fails the command that reads, and sets ERROR.BUS and ERROR_ADDRESS; of
/// a write, too, which PCI Express would tell nobody of. Nothing is given up for taking long.
///
/// Interrupts, of vector v, each after the answers to all that the device wrote before it:
/// - as a message: a write of 4 bytes by to_memory, once software has put address and data into entry v of
///   the table and unmasked it. (All are masked after reset.)
/// - as a wire: interrupts[v] is high for one cycle of the device's clock, from the edge after the tick in
///   which the last of those answers counts. It is low for a cycle at least in between: an interrupt that
///   comes meanwhile follows. The table does not matter. An edge, as messages are: software looks at its ring
///   until it has nothing new. May be left unbound.
///
/// Time: at first timed. An access by from_bus that is made in a cycle is at the device two cycles later, or
/// one more for every 128 bytes beyond the first 104 of a write; then a write is done. What a read asks for
/// is back after `access_latency` and one more, likewise. b_transport blocks its thread until then; an access
/// by nb_transport has END_REQ at once and BEGIN_RESP then, and any number may be under way. By to_memory the
/// device uses nb_transport with four phases, one request at a time before its END_REQ, and up to
/// `outstanding` that are not answered. END_RESP is called at the start of the cycle after BEGIN_RESP. When
/// time is loose (EngineModule::set_loose) both sides use b_transport, and what the device does is done
/// within the access that causes it, at that access's local time.
///
/// Debug access reaches the device's memory, and reads registers without effects. Direct memory access is
/// never granted.
class WARPLINE_PUBLIC QueueDeviceModule final : public sc_core::sc_module {
 public:
  static constexpr unsigned kBusBits = 64;
  using TargetSocket = tlm::tlm_target_socket<kBusBits>;
  using InitiatorSocket = tlm::tlm_initiator_socket<kBusBits>;
  /// What may be bound to an sc_signal<bool>, or to the port of a module around it, or to nothing.
  using Wire = sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  using ResetWire = sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  static constexpr unsigned kVectors = regs::peer::kQueues;
  static constexpr std::uint64_t kMessageTable = regs::peer::kMap.bytes;

  /// `engine` ticks it, and outlives it; `clock`: its own. Throws std::invalid_argument with every fault of
  /// `parameters`.
  QueueDeviceModule(const sc_core::sc_module_name& name, EngineModule& engine,
                    const QueueDeviceModuleParameters& parameters = {}, const ClockDomain& clock = {});
  ~QueueDeviceModule() override;

  [[nodiscard]] TargetSocket& from_bus();
  [[nodiscard]] InitiatorSocket& to_memory();
  sc_core::sc_vector<Wire> interrupts;
  /// A rising edge is reset(); while it is high, accesses are answered with TLM_GENERIC_ERROR_RESPONSE.
  ResetWire reset_wire;

  /// Where the device's memory lies in the window, and where that ends.
  [[nodiscard]] std::uint64_t memory_at() const;
  [[nodiscard]] std::uint64_t window_bytes() const;

  /// Power-on, at any time: registers and queues as they were built; its memory keeps its bytes. Accesses
  /// under way are answered with TLM_GENERIC_ERROR_RESPONSE; what the device has under way on the bus is
  /// answered there, and forgotten. Wires fall.
  void reset();

  /// What arrived at its registers and memory, oldest first: the newest `log_entries`.
  [[nodiscard]] const AccessLog& access_log() const;
  void visit(CounterVisitor& visitor) const;

 private:
  void end_of_elaboration() override;
  void respond();
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
