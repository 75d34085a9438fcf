#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rtl_models/pcie/packets/link_parameters.h"
#include "rtl_models/pcie/packets/tlp_queue.h"
#include "rtl_models/pcie/packets/tlp_rules.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// What went over one end of a link.
struct LinkCounters {
  std::uint64_t packets_sent = 0;
  std::uint64_t payload_sent = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t payload_received = 0;
  std::uint64_t packets_lost = 0;
  std::uint64_t payload_lost = 0;

  template <class F>
  void visit(F&& f) const {
    f("packets_sent", packets_sent, "packets", "put on the wire");
    f("payload_sent", payload_sent, "bytes", "of them, headers excluded");
    f("packets_received", packets_received, "packets", "taken off the link");
    f("payload_received", payload_received, "bytes", "of them, headers excluded");
    f("packets_lost", packets_lost, "packets", "on the wire towards it when the link went down");
    f("payload_lost", payload_lost, "bytes", "of them, headers excluded");
  }
};

/// One end of a PCI Express link, in the component that it belongs to.
///
/// Each direction of a link is one wire, which carries one packet at a time, and a channel for each class of
/// packets: its depth is the credits of the class, so that none can keep another from moving for good. A
/// credit is back `latency` after its packet was taken. Packets are sent and taken in the order of the wire,
/// but for what may_pass() lets pass.
class TlpPort {
 public:
  /// `name`: what the link leads to: "root" makes ports "from_root.posted" and so on. Pre: the parameters
  /// have no problems.
  TlpPort(Component& owner, const std::string& name, const LinkParameters& parameters);

  /// Queues a packet: any number of them, as whoever makes requests bounds them by tags and by waiting().
  void send(Tlp* tlp) { waiting_.push(tlp); }
  /// Called for each request that is to be answered, in the cycle in which it goes on the wire, or is lost
  /// before that: its completion timeout begins.
  void on_request(std::function<void(const Tlp&, Cycle)> heard) { request_heard_ = std::move(heard); }
  /// Packets queued and not yet on the wire.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Those of a class.
  [[nodiscard]] std::size_t waiting(TlpClass of) const { return waiting_.count(of); }
  /// Last thing in a tick: puts on the wire what may go. Returns when there may be more to send; kNever: not
  /// before something is queued or a credit comes back, which wakes the owner.
  [[nodiscard]] Cycle transmit(Cycle now);

  /// The next packet to be taken for which `wants(const Tlp&)`; null if there is none now.
  template <class F>
  [[nodiscard]] Tlp* next(Cycle now, F&& wants);
  /// Takes it: from now on it is the caller's.
  void take(Cycle now, const Tlp* tlp);

  [[nodiscard]] bool busy() const { return !waiting_.empty(); }
  void explain(std::vector<Wait>& waits) const;
  /// The link goes down, if only for a moment: what waits at either end and what is on the wire is lost. The
  /// pool outlives the link.
  void cut(TlpPool& pool) {
    lose(pool, other_ != nullptr ? other_->sent_ : 0);
    if (other_ != nullptr) other_->lose(pool, sent_);
  }
  [[nodiscard]] const LinkCounters& counters() const { return counters_; }
  [[nodiscard]] const LinkParameters& parameters() const { return parameters_; }

  /// The ports of its three channels of either direction, by class.
  [[nodiscard]] In<TlpMessage>& in(TlpClass of) { return in_[static_cast<unsigned>(of)]; }
  [[nodiscard]] Out<TlpMessage>& out(TlpClass of) { return out_[static_cast<unsigned>(of)]; }
  /// The channel of a class of packets, in either direction.
  [[nodiscard]] ChannelParameters channel(TlpClass of) const;
  template <class Archive>
  void archive(Archive& a) {
    // Pre: nothing waits, and nothing is on the wire. Its six ports save themselves.
    a(wire_free_, sent_, lost_, counters_);
  }

  template <class F>
  friend void connect(TlpPort& a, TlpPort& b, F&& make);

 private:
  void lose(TlpPool& pool, std::uint64_t sent);
  void discard_lost(Cycle now);
  void tell(const Tlp& tlp, Cycle now) const {
    if (request_heard_ && class_of(tlp.kind) == TlpClass::non_posted) request_heard_(tlp, now);
  }

  LinkParameters parameters_;
  Component& owner_;
  TlpPort* other_ = nullptr;
  std::array<In<TlpMessage>, kTlpClasses> in_;
  std::array<Out<TlpMessage>, kTlpClasses> out_;
  TlpQueue waiting_;
  std::uint64_t wire_free_ = 0;  ///< edge of the owner's clock
  std::uint64_t sent_ = 0;       ///< packets put on the wire: the number of the next
  std::uint64_t lost_ = 0;       ///< packets of the other end with lower numbers are lost
  TlpPool* pool_ = nullptr;      ///< to which lost packets are released
  std::function<void(const Tlp&, Cycle)> request_heard_;
  LinkCounters counters_;
};

/// Joins both ends of a link, port to port. Pre: neither is bound; equal parameters.
void connect(TlpPort& a, TlpPort& b);
/// Joins both ends by whatever make(Out<TlpMessage>&, In<TlpMessage>&, const ChannelParameters&) binds for
/// each of the six channels. Pre: as above.
template <class F>
void connect(TlpPort& a, TlpPort& b, F&& make);

template <class F>
Tlp* TlpPort::next(Cycle now, F&& wants) {
  if (pool_ != nullptr) discard_lost(now);
  // A wire keeps its order, so of each class only the oldest can be next, and what it would have to pass is
  // the oldest of another class: one that lies in its queue for longer, too.
  std::array<Tlp*, kTlpClasses> front{};
  for (unsigned c = 0; c < kTlpClasses; ++c)
    if (const TlpMessage* const m = in_[c].oldest(); m != nullptr) front[c] = m->tlp;
  Tlp* chosen = nullptr;
  for (unsigned c = 0; c < kTlpClasses; ++c) {
    Tlp* const tlp = front[c];
    if (!in_[c].ready(now) || !wants(static_cast<const Tlp&>(*tlp))) continue;
    if (chosen != nullptr && chosen->sequence < tlp->sequence) continue;
    bool passes = true;
    for (const Tlp* other : front)
      if (other != nullptr && other->sequence < tlp->sequence) passes = passes && may_pass(*tlp, *other);
    if (passes) chosen = tlp;
  }
  return chosen;
}

template <class F>
void connect(TlpPort& a, TlpPort& b, F&& make) {
  a.other_ = &b;
  b.other_ = &a;
  for (unsigned c = 0; c < kTlpClasses; ++c) {
    const auto of = static_cast<TlpClass>(c);
    const ChannelParameters channel = a.channel(of), back = b.channel(of);
    WARPLINE_EXPECT(channel.width == back.width && channel.latency == back.latency &&
                        channel.depth == back.depth && channel.credit_latency == back.credit_latency,
                    "both ends of a link have its parameters");
    make(a.out(of), b.in(of), channel);
    make(b.out(of), a.in(of), channel);
  }
}

}  // namespace warpline
