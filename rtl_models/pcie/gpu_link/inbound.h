#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "rtl_models/pcie/gpu_link/gpu_function.h"
#include "rtl_models/pcie/gpu_link/inbound_core.h"
#include "rtl_models/pcie/gpu_link/pcie_wire.h"
#include "rtl_models/pcie/packets/timed_queue.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

/// The way of requests from outside to a GPU's video memory, or to its registers, and of their answers back:
/// from the GPU's function at the far end of the link, down the wire among the answers to the link's own
/// requests, to the crossbar, of which it is a client beside the SMs' caches (see InboundCore); and up the
/// wire again. Part of the link's tick.
///
/// At most kPackets packets of each class are on the wire down or not yet performed. Further ones stay in the
/// queues of the link to the root complex, and their senders wait for its credits. The writes held here
/// cannot be part of a deadlock: they wait for L2 alone, which takes them whatever else the GPU waits for.
///
/// What devices answer to the GPU's own requests waits for writes that came before it (DeviceEnd); what
/// system memory answers does not: a kernel that is told of them by a flag there may look before they are
/// done.
class Inbound final : private GpuFunction::LooseMemory {
 public:
  static constexpr unsigned kPackets = 32;

  /// `gpu`: its number. `memory_bytes`: of its video memory. Link, its core and its wire outlive it.
  Inbound(Component& link, const PcieCore& packets, PcieWire& wire, unsigned gpu, std::uint64_t memory_bytes)
      : to_crossbar(link, "to_crossbar"),
        from_crossbar(link, "from_crossbar"),
        link_(link),
        packets_(packets),
        wire_(wire),
        memory_bytes_(memory_bytes),
        core_(link.pool(), gpu) {}
  /// Takes its requests from there. To be called once, before anything is under way.
  void come_from(GpuFunction& function) {
    function_ = &function;
    function.perform_by(*this);
  }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }

  Out<RequestMessage> to_crossbar;
  In<ResponseMessage> from_crossbar;

  /// What the GPU's side has done, and may do now; first in a tick. Returns when there is more to do; kNever:
  /// not before something comes.
  [[nodiscard]] Cycle tick(Cycle now);
  /// Exchanges packets with the function at edge `t`: answers that have come up the wire go out, and requests
  /// that are taken come down.
  void exchange(Cycle now, std::uint64_t t);
  /// Answers that wait for the wire upward.
  [[nodiscard]] std::size_t unsent() const { return unsent_.size(); }
  /// Puts the oldest of them on it. Pre: there is one, and the wire is free.
  void send_answer(std::uint64_t t);
  /// Edge at which the next answer is at the far end; kNever: none is under way.
  [[nodiscard]] std::uint64_t next() const { return answers_.next(); }
  /// Writes that were ever taken. What has come behind them may be seen when writes_done() says as many.
  [[nodiscard]] std::uint64_t writes_taken() const {
    return core_.counters().writes + on_wire_[static_cast<unsigned>(TlpClass::posted)] - other_writes_;
  }
  /// Of these, how many come before the first that is not done.
  [[nodiscard]] std::uint64_t writes_done() const { return core_.writes_done(); }

  /// Whether what came before the doorbell of the last launch is done.
  [[nodiscard]] bool is_launch_in_order() const { return core_.writes_done() >= launch_behind_; }

  template <class Archive>
  void archive(Archive& a) {
    a(core_);
  }
  [[nodiscard]] bool busy() const {
    return !arriving_.empty() || !core_.idle() || !unsent_.empty() || !answers_.empty();
  }
  void explain(std::vector<Wait>& waits) const;
  void visit_gauges(GaugeVisitor& visitor) const;
  [[nodiscard]] const InboundCounters& counters() const { return core_.counters(); }

 private:
  /// How many packets of a class there is room for.
  [[nodiscard]] unsigned room(TlpClass of) const {
    return kPackets - core_.held(of) - on_wire_[static_cast<unsigned>(of)];
  }
  void perform_inbound(Tlp& tlp, const BarHit& where, Cycle& at) override;
  void access(const BarHit& where, Tlp& tlp, Cycle now);
  void perform(Tlp& tlp, std::uint64_t offset, Cycle& at);

  Component& link_;
  const PcieCore& packets_;
  PcieWire& wire_;
  std::uint64_t memory_bytes_;
  GpuFunction* function_ = nullptr;
  InboundCore core_;
  struct Arrival {
    EndpointCore::BarRequest request;
    std::uint64_t power_ons = 0;  ///< of the registers, before it
  };
  /// Those that registers had before what arrives now.
  [[nodiscard]] std::uint64_t power_ons() const {
    return function_->registers() != nullptr ? function_->registers()->power_ons() : 0;
  }
  TimedQueue<Arrival> arriving_;  ///< by cycle
  std::deque<Tlp*> unsent_;
  TimedQueue<Tlp*> answers_;  ///< under way upward, by edge
  std::array<unsigned, kTlpClasses> on_wire_{};
  unsigned other_writes_ = 0;        ///< of the posted ones there, those for other BARs
  std::uint64_t launch_behind_ = 0;  ///< writes that were taken before the last doorbell
};

}  // namespace warpline
