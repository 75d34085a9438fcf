// What a root complex does with packets that are loosely timed.
#include "warpline/pcie/root_complex.h"
#include "warpline/tlp/tlp_rules.h"

namespace warpline {

void RootComplex::perform(Tlp& tlp, Cycle& at) {
  const unsigned bus = tlp.requester.value >> 8U;
  const unsigned from = bus < ports_.size() ? bus : 0;
  tlp.status = CompletionStatus::unsupported_request;
  if (from != 0 && !core_.up(from - 1)) return;
  const std::uint64_t address = tlp.address;
  const TlpRoute route = core_.route(route_of(from), tlp, at);
  const RootComplexParameters& p = core_.parameters();
  std::uint64_t t = domain().edge_at_or_after(at);
  switch (route.to) {
    case TlpRoute::To::memory:
      tlp.status = core_.perform(tlp);
      t += p.memory_latency + core_.channel_of(tlp.address) * p.channel_distance;
      break;
    case TlpRoute::To::interrupts:
    case TlpRoute::To::port: {
      const unsigned to = route.to == TlpRoute::To::port ? number_of(route.port) : 0;
      Port& port = ports_[to];
      WARPLINE_EXPECT(port.loose != nullptr, "somebody performs what is loosely timed");
      at = domain().cycle_of(t + p.forward_latency + port.link->parameters().cycles_of(tlp.payload()));
      if (too_long(tlp, to)) {
        for (const TlpPart& part : split_request(tlp.address, tlp.bytes, most_payload(to))) {
          Tlp piece = part_of(tlp, part);
          port.loose->perform(piece, at);
        }
      } else {
        port.loose->perform(tlp, at);
      }
      t = domain().edge_at_or_after(at) + p.forward_latency;
      if (!tlp.posted()) t += port.link->parameters().cycles_of(tlp.payload());
      break;
    }
    case TlpRoute::To::unsupported:
    case TlpRoute::To::refused:
    case TlpRoute::To::dropped: t += p.forward_latency; break;
  }
  tlp.address = address;
  at = domain().cycle_of(t);
}

}  // namespace warpline
