#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "rtl_models/pcie/gpu_link/inbound.h"
#include "rtl_models/pcie/gpu_link/pcie_transfers.h"
#include "rtl_models/pcie/gpu_link/pcie_wire.h"
#include "rtl_models/sim/target_ports.h"

namespace warpline {

/// The far end of a link at a root complex, behind which devices are: what arrives for the peer aperture goes
/// on as packets of a GpuFunction, and the offset in the aperture is the address on the bus.
///
/// A read is a packet for each run of adjacent bytes it asks for, an exact one of those bytes and no other
/// one of whole sectors; a write one for each run of bytes; AtomicOps and the words of compare-and-swap loops
/// one each. What devices do not answer with data, in time (unsupported, aborted, damaged, given up), reads
/// as all ones. An answer comes down the wire when all of it is here.
///
/// A request that has to wait for an earlier one on its line is parked: taken off its port, so that requests
/// behind it there can go on. Otherwise there could be a deadlock: the answer that it waits for may be behind
/// writes to video memory, which may need the requests behind it. Later requests to devices stay behind it.
///
/// An answer of a device is held back until the writes to video memory that came before it are performed: a
/// kernel that reads from a device that a write is done finds what was written. Answers of system memory are
/// not held back, as L2 may need them before it takes such a write.
class DeviceEnd {
 public:
  /// A request that is parked, and the port that it came by.
  struct Parked {
    Request* request = nullptr;
    unsigned port = 0;
  };
  /// `inbound`: the way to video memory; null: there is none. All outlive it. `log_entries`: of the log of
  /// accesses to its registers, if it has any. Pre: the parameters have no problems.
  DeviceEnd(Component& link, const PcieCore& core, PcieTransfers& transfers, PcieWire& wire,
            PcieCounters& counters, Inbound* inbound, TlpPool& pool, FunctionId id,
            const LinkParameters& root, std::uint64_t log_entries);

  /// See PcieLink.
  void relax_writes() { relaxed_writes_ = true; }
  [[nodiscard]] GpuFunction& function() { return function_; }
  [[nodiscard]] const GpuFunction& function() const { return function_; }

  /// Takes requests off the ports that have to be parked.
  void park(Cycle now, TargetPorts& ports);
  [[nodiscard]] const std::deque<Parked>& parked() const { return parked_; }
  /// Whether the first that is parked may go.
  [[nodiscard]] bool parked_goes() const {
    return !parked_.empty() && !transfers_.waits_for_line(*parked_.front().request);
  }
  [[nodiscard]] Parked unpark() {
    const Parked first = parked_.front();
    parked_.pop_front();
    return first;
  }

  /// The last packet of a transfer comes to the end of the link at edge `at`.
  void expect(std::uint64_t at, PcieTransfer& transfer) { arriving_.push(at, &transfer); }
  /// Exchanges packets with the root complex, at edge `t`. transmit() ends the tick.
  void exchange(Cycle now, std::uint64_t t);
  /// The next transfer that is answered, and may be seen to be, by edge `t`; null: none.
  [[nodiscard]] PcieTransfer* take_answered(std::uint64_t t) {
    if (!answered_.due(t) || !is_in_order(*answered_.front().what)) return nullptr;
    return answered_.pop().what;
  }
  /// Puts packets on the wire to the root complex. Returns when there is more to do; kNever: not before
  /// something comes.
  [[nodiscard]] Cycle transmit(Cycle now) { return function_.transmit(now); }
  /// Edge after `t` at which something arrives here or is answered; kNever: there is none. What is due and
  /// stays behind writes goes when L2 answers these.
  [[nodiscard]] std::uint64_t next(std::uint64_t t) const;

  /// Performs a transfer that is here at edge `t`, loosely timed; `t`: when its answer is on the wire
  /// downward.
  void perform(std::uint64_t& t, PcieTransfer& transfer);
  /// Whether all writes to video memory that came before the answer to a transfer are performed.
  [[nodiscard]] bool is_in_order(const PcieTransfer& transfer) const {
    return inbound_ == nullptr || inbound_->writes_done() >= transfer.behind;
  }

  template <class Archive>
  void archive(Archive& a) {
    a(function_);
  }
  [[nodiscard]] bool busy() const { return !parked_.empty() || function_.busy(); }
  void explain(std::vector<Wait>& waits) const;
  void in_flight(std::vector<InFlight>& rows) const;

 private:
  void send_on(PcieTransfer& transfer);
  static void add_payload(const PcieTransfer& transfer, unsigned part, unsigned offset, Tlp& tlp);
  template <class F>
  void take_parts(F&& answered);
  static void take(const ReadPart& part, PcieTransfer& transfer);

  Component& link_;
  const PcieCore& core_;
  PcieTransfers& transfers_;
  PcieWire& wire_;
  PcieCounters& counters_;
  Inbound* inbound_;
  TlpPool& pool_;
  GpuFunction function_;
  bool relaxed_writes_ = false;
  std::deque<Parked> parked_;
  TimedQueue<PcieTransfer*> arriving_;
  TimedQueue<PcieTransfer*> answered_;  ///< on their way down
};

}  // namespace warpline
