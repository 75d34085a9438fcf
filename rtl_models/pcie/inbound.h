#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "warpline/fabric/channel.h"
#include "warpline/fabric/gauge.h"
#include "warpline/pcie/inbound_core.h"

namespace warpline {

/// Where packets for a GPU's video memory leave its link: a client of the crossbar beside the SMs' caches, in
/// time (see InboundCore). Part of the link's tick.
///
/// Holds at most kPackets packets of each class, those included that are on their way to it over the link's
/// wire: more stay where they are, and so do those who send them, for want of credits. Writes that are held
/// need nothing but L2, which takes them whatever else the GPU waits for.
///
/// What devices answer to the GPU's own requests waits for writes that came before it (PcieLink); what system
/// memory answers does not: a kernel that is told of them by a flag there may look before they are done.
class Inbound {
 public:
  static constexpr unsigned kPackets = 32;

  /// `gpu`: its number.
  Inbound(Component& link, unsigned gpu)
      : to_crossbar(link, "to_crossbar"),
        from_crossbar(link, "from_crossbar"),
        link_(link),
        core_(link.engine().pool(), gpu) {}

  Out<RequestMessage> to_crossbar;
  In<ResponseMessage> from_crossbar;

  /// How many packets of a class there is room for; finished() ones take none.
  [[nodiscard]] unsigned room(TlpClass of) const {
    return kPackets - core_.held(of) - on_wire_[static_cast<unsigned>(of)];
  }
  /// A packet has been put on the link's wire, and will be here in cycle `at`; not before those of earlier
  /// calls. Pre: room.
  void expect(Tlp* tlp, std::uint64_t offset, Cycle at);
  /// Takes what has come and sends what may go. Returns when there is more to do; kNever: not before
  /// something comes.
  [[nodiscard]] Cycle tick(Cycle now);
  /// Performs a packet whole, loosely timed, from cycle `at` on, in which it is here. `at`: when it is done.
  void perform(Tlp& tlp, std::uint64_t offset, Cycle& at);
  /// Writes that expect() and perform() have ever taken. What has come behind them may be seen when
  /// writes_done() says as many.
  [[nodiscard]] std::uint64_t writes_taken() const {
    return core_.counters().writes + on_wire_[static_cast<unsigned>(TlpClass::posted)];
  }
  /// Of these, how many come before the first that is not done.
  [[nodiscard]] std::uint64_t writes_done() const { return core_.writes_done(); }
  /// See InboundCore::finished.
  [[nodiscard]] std::deque<Tlp*>& finished() { return core_.finished(); }

  [[nodiscard]] bool busy() const { return !arriving_.empty() || !core_.idle(); }
  void explain(std::vector<Wait>& waits) const;
  void visit_gauges(GaugeVisitor& visitor) const;
  [[nodiscard]] const InboundCounters& counters() const { return core_.counters(); }

 private:
  struct Arrival {
    Cycle at = 0;
    Tlp* tlp = nullptr;
    std::uint64_t offset = 0;
  };
  Component& link_;
  InboundCore core_;
  std::deque<Arrival> arriving_;
  std::array<unsigned, kTlpClasses> on_wire_{};
};

}  // namespace warpline
