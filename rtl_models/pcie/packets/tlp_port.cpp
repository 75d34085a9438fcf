#include "rtl_models/pcie/packets/tlp_port.h"

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr std::array<const char*, kTlpClasses> kClassNames = {".posted", ".non_posted", ".completion"};

std::array<unsigned, kTlpClasses> credits(const LinkParameters& p) {
  return {p.posted_credits, p.non_posted_credits, p.completion_credits};
}

}  // namespace

TlpPort::TlpPort(Component& owner, const std::string& name, const LinkParameters& parameters)
    : parameters_(parameters),
      owner_(owner),
      in_{In<TlpMessage>(owner, "from_" + name + kClassNames[0]),
          In<TlpMessage>(owner, "from_" + name + kClassNames[1]),
          In<TlpMessage>(owner, "from_" + name + kClassNames[2])},
      out_{Out<TlpMessage>(owner, "to_" + name + kClassNames[0]),
           Out<TlpMessage>(owner, "to_" + name + kClassNames[1]),
           Out<TlpMessage>(owner, "to_" + name + kClassNames[2])} {
  WARPLINE_EXPECT(parameters.problems("").empty(), "link parameters are checked before they are used");
}

Cycle TlpPort::transmit(Cycle now) {
  if (waiting_.empty()) return kNever;
  const ClockDomain& clock = owner_.domain();
  const std::uint64_t edge = clock.edge_at_or_after(now);
  if (edge < wire_free_) return clock.cycle_of(wire_free_);
  Tlp* tlp = waiting_.choose([&](const Tlp& t) { return out(class_of(t.kind)).ready(now); });
  if (tlp == nullptr) return kNever;
  waiting_.take(tlp);
  tlp->sequence = sent_++;
  ++counters_.packets_sent;
  counters_.payload_sent += tlp->payload();
  tell(*tlp, now);
  wire_free_ = edge + TlpMessage{tlp}.beats(parameters_.bytes_per_cycle);
  out(class_of(tlp->kind)).send(now, TlpMessage{tlp});
  return waiting_.empty() ? kNever : clock.cycle_of(wire_free_);
}

void TlpPort::take(Cycle now, const Tlp* tlp) {
  In<TlpMessage>& from = in(class_of(tlp->kind));
  WARPLINE_EXPECT(from.ready(now) && from.front().tlp == tlp, "the packet that is next is taken");
  ++counters_.packets_received;
  counters_.payload_received += tlp->payload();
  static_cast<void>(from.pop(now));
  // What had to stay behind this packet may be next now, in a channel that does not know of it.
  for (const In<TlpMessage>& other : in_)
    if (other.ready(now)) owner_.wake(now + 1);
}

void TlpPort::explain(std::vector<Wait>& waits) const {
  for (unsigned c = 0; c < kTlpClasses; ++c) {
    const std::size_t n = waiting_.count(static_cast<TlpClass>(c));
    if (n != 0) out_[c].explain_room(waits, counted(n, "packet"));
  }
}

void TlpPort::lose(TlpPool& pool, std::uint64_t sent) {
  // Whoever waits for the answers of these has to look when it is time to give them up.
  const Cycle now = owner_.engine().now();
  if (waiting_.count(TlpClass::non_posted) != 0) owner_.wake(now + 1);
  waiting_.drain([&](Tlp* tlp) {
    tell(*tlp, now);
    pool.release(tlp);
  });
  lost_ = sent;
  pool_ = &pool;
}

void TlpPort::discard_lost(Cycle now) {
  for (In<TlpMessage>& from : in_)
    while (from.ready(now) && from.front().tlp->sequence < lost_) {
      Tlp* const tlp = from.pop(now).tlp;
      ++counters_.packets_lost;
      counters_.payload_lost += tlp->payload();
      pool_->release(tlp);
    }
}

ChannelParameters TlpPort::channel(TlpClass of) const {
  const LinkParameters& p = parameters_;
  return {p.bytes_per_cycle, p.latency, credits(p)[static_cast<unsigned>(of)], p.latency};
}

void connect(TlpPort& a, TlpPort& b) {
  connect(a, b, [](Out<TlpMessage>& out, In<TlpMessage>& in, const ChannelParameters& channel) {
    connect(out, in, channel);
  });
}

}  // namespace warpline
