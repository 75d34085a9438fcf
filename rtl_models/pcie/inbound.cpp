#include "warpline/pcie/inbound.h"

#include <algorithm>

namespace warpline {

void Inbound::expect(Tlp* tlp, std::uint64_t offset, Cycle at) {
  WARPLINE_EXPECT(room(class_of(tlp->kind)) != 0, "a packet is taken when there is room for it");
  ++on_wire_[static_cast<unsigned>(class_of(tlp->kind))];
  arriving_.push_back({at, tlp, offset});
  link_.wake(at);
}

Cycle Inbound::tick(Cycle now) {
  for (; !arriving_.empty() && arriving_.front().at <= now; arriving_.pop_front()) {
    const Arrival& a = arriving_.front();
    --on_wire_[static_cast<unsigned>(class_of(a.tlp->kind))];
    core_.accept(a.tlp, a.offset);
  }
  if (from_crossbar.ready(now)) core_.answered(from_crossbar.pop(now).request);
  const Cycle next = arriving_.empty() ? kNever : arriving_.front().at;
  Request* const r = to_crossbar.ready(now) ? core_.next() : nullptr;
  if (r == nullptr) return next;
  to_crossbar.send(now, {r});
  return std::min(next, link_.domain().after(now, 1));
}

void Inbound::perform(Tlp& tlp, std::uint64_t offset, Cycle& at) {
  Engine& engine = link_.engine();
  auto& finished = core_.finished();
  const auto done = [&] { return std::find(finished.begin(), finished.end(), &tlp); };
  const Cycle sent = at;
  core_.accept(&tlp, offset);
  while (done() == finished.end()) {
    Request* const r = core_.next();
    if (r == nullptr) {
      // What it must stay behind is being performed by somebody who is blocked below.
      at = std::max(at, engine.wait_below());
      continue;
    }
    at = std::max(at, perform_through(to_crossbar, from_crossbar, *r, sent));
    core_.answered(r);
    engine.wake_waiters();
  }
  finished.erase(done());
}

void Inbound::explain(std::vector<Wait>& waits) const {
  const unsigned n = core_.held(TlpClass::posted) + core_.held(TlpClass::non_posted);
  if (n != 0)
    waits.push_back(
        {link_.name(),
         std::to_string(n) + (n == 1 ? " packet" : " packets") + " for video memory to be performed",
         {to_crossbar.other_side()}});
}

void Inbound::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("inbound_writes", core_.held(TlpClass::posted), kPackets,
                "packets that write video memory and are not done");
  visitor.gauge("inbound_reads", core_.held(TlpClass::non_posted), kPackets,
                "packets that read video memory, or atomics, and are not done");
}

}  // namespace warpline
