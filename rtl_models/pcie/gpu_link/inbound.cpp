#include "rtl_models/pcie/gpu_link/inbound.h"

#include <algorithm>

#include "rtl_models/base/text.h"

namespace warpline {

Cycle Inbound::tick(Cycle now) {
  arriving_.take_due(now, [&](const auto& arrival) {
    const EndpointCore::BarRequest& request = arrival.what.request;
    --on_wire_[static_cast<unsigned>(class_of(request.tlp->kind))];
    if (request.where.bar == GpuFunction::kMemoryBar) return core_.accept(request.tlp, request.where.offset);
    if (arrival.what.power_ons == power_ons()) {
      access(request.where, *request.tlp, now);
    } else if (!request.tlp->posted()) {
      // Its registers are others by now: nobody hears of it.
      request.tlp->status = CompletionStatus::completer_abort;
    }
    if (!request.tlp->posted()) return unsent_.push_back(request.tlp);
    --other_writes_;
    function_->complete(request.tlp);
  });
  if (from_crossbar.ready(now)) core_.answered(from_crossbar.pop(now).request);
  Cycle next = arriving_.next();
  if (to_crossbar.ready(now))
    if (Request* const r = core_.next(); r != nullptr) {
      to_crossbar.send(now, {r});
      next = std::min(next, link_.domain().after(now, 1));
    }
  for (auto& finished = core_.finished(); !finished.empty(); finished.pop_front()) {
    Tlp* const tlp = finished.front();
    if (tlp->posted()) {
      function_->complete(tlp);
    } else {
      unsent_.push_back(tlp);
    }
  }
  return next;
}

void Inbound::exchange(Cycle now, std::uint64_t t) {
  answers_.take_due(t, [&](const auto& answer) { function_->complete(answer.what); });
  const auto unsent = static_cast<unsigned>(unsent_.size());
  function_->exchange(now, {room(TlpClass::posted), room(TlpClass::non_posted) - unsent});
  for (auto& claimed = function_->claimed(); !claimed.empty(); claimed.pop_front()) {
    const EndpointCore::BarRequest& request = claimed.front();
    const Cycle at = link_.domain().cycle_of(wire_.send_down(t, packets_.packet(request.tlp->payload())));
    const TlpClass of = class_of(request.tlp->kind);
    WARPLINE_EXPECT(room(of) != 0, "a packet is taken when there is room for it");
    ++on_wire_[static_cast<unsigned>(of)];
    other_writes_ += request.tlp->posted() && request.where.bar != GpuFunction::kMemoryBar;
    arriving_.push(at, {request, power_ons()});
    link_.wake(at);
  }
}

void Inbound::send_answer(std::uint64_t t) {
  Tlp* const tlp = unsent_.front();
  unsent_.pop_front();
  const std::uint64_t sent = wire_.send_up(t, packets_.completion(tlp->payload()));
  answers_.push(sent + packets_.parameters().latency, tlp);
}

/// A request for registers, which is here now.
void Inbound::access(const BarHit& where, Tlp& tlp, Cycle now) {
  const GpuRegisters& registers = *function_->registers();
  const bool had_launch = registers.has_launch();
  function_->access(where, tlp, now);
  if (registers.has_launch() && !had_launch) launch_behind_ = core_.counters().writes;
  if (registers.has_interrupt()) link_.wake(link_.engine().now() + 1);
}

void Inbound::perform_inbound(Tlp& tlp, const BarHit& where, Cycle& at) {
  const ClockDomain& clock = link_.domain();
  const unsigned latency = packets_.parameters().latency;
  const unsigned down = wire_.count_down(packets_.packet(tlp.payload()));
  at = clock.cycle_of(clock.edge_at_or_after(at) + down + latency);
  if (where.bar == GpuFunction::kMemoryBar) {
    perform(tlp, where.offset, at);
  } else {
    access(where, tlp, at);
    tlp.status = CompletionStatus::successful;
  }
  if (tlp.posted()) return;
  const unsigned up = wire_.count_up(packets_.completion(tlp.payload()));
  at = clock.cycle_of(clock.edge_at_or_after(at) + up + latency);
}

/// Performs a packet whole, loosely timed, from cycle `at` on, in which it is here. `at`: when it is done.
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
  if (const std::size_t n = unsent_.size() + answers_.size(); n != 0)
    waits.push_back({link_.name(), std::to_string(n) + " answers about video memory to cross the link"});
  const unsigned n = core_.held(TlpClass::posted) + core_.held(TlpClass::non_posted);
  if (n != 0)
    waits.push_back({link_.name(),
                     counted(n, "packet") + " for video memory to be performed",
                     {to_crossbar.other_side()}});
}

void Inbound::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("inbound_writes", core_.held(TlpClass::posted), kPackets,
                "packets that write video memory and are not done");
  visitor.gauge("inbound_reads", core_.held(TlpClass::non_posted), kPackets,
                "packets that read video memory, or atomics, and are not done");
}

}  // namespace warpline
