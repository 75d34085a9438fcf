#include "rtl_models/pcie/gpu_link/pcie_link.h"

#include <algorithm>

#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

PcieLink::PcieLink(Engine& engine, std::string name, ClockDomain domain, const PcieParameters& parameters,
                   MemoryImage* sysmem, unsigned inputs, MemoryDevice* peer)
    : Component(engine, std::move(name), domain),
      core_(parameters),
      transfers_(core_, counters_, sysmem != nullptr),
      wire_(core_, counters_),
      writers_(std::make_shared<MemoryWriters>()),
      sysmem_(*this, core_, transfers_, counters_, {Aperture::sysmem, sysmem, nullptr, sysmem != nullptr, 0}),
      peer_(*this, core_, transfers_, counters_,
            {Aperture::peer, peer != nullptr ? &peer->image() : nullptr, peer, sysmem != nullptr,
             parameters.peer_latency}),
      ports_(*this, "from_l2", "to_l2", inputs) {
  WARPLINE_EXPECT(parameters.problems("").empty(), "PCIe parameters are checked before they are used");
  join_writers();
}

PcieLink::PcieLink(PcieLink& beside, std::string name, unsigned inputs)
    : Component(beside, std::move(name)),
      core_(beside.core_),
      transfers_(core_, counters_, beside.sysmem_.memory().with_data),
      wire_(core_, counters_),
      writers_(beside.writers_),
      sysmem_(*this, core_, transfers_, counters_, beside.sysmem_.memory()),
      peer_(*this, core_, transfers_, counters_, beside.peer_.memory()),
      ports_(*this, "from_l2", "to_l2", inputs) {
  join_writers();
}

GpuFunction& PcieLink::reach_devices(TlpPool& pool, FunctionId id, const LinkParameters& root,
                                     std::uint64_t log_entries) {
  WARPLINE_EXPECT(devices_ == nullptr && peer_.memory().device == nullptr,
                  "one thing lies in the peer aperture");
  devices_ = std::make_unique<DeviceEnd>(*this, core_, transfers_, wire_, counters_, inbound_.get(), pool, id,
                                         root, log_entries);
  return devices_->function();
}

Cycle PcieLink::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  ports_.collect(now);
  writers_->arrive(now);
  const auto send_down = [&](const auto& answer) {
    down_.push(wire_.send_down(answer.at, answer.what->completion), answer.what);
  };
  sysmem_.returning().take_due(t, send_down);
  Cycle outside = kNever;
  if (devices_ != nullptr) {
    if (inbound_ != nullptr) outside = inbound_->tick(now);
    devices_->exchange(now, t);
  }
  peer_.returning().take_due(t, send_down);
  down_.take_due(t, [&](const auto& arrival) { arrive_down(*arrival.what); });
  if (devices_ != nullptr)
    while (PcieTransfer* const answered = devices_->take_answered(t)) arrive_down(*answered);
  posted_.take_due(t, [&](const auto& write) { answer(*write.what); });
  ports_.send_answers(now);
  if (devices_ != nullptr) devices_->park(now, ports_);
  const std::size_t unsent = inbound_ != nullptr ? inbound_->unsent() : 0;
  if (wire_.up_free() <= t) put_up(now, t);
  std::uint64_t next = std::min({sysmem_.next(), peer_.next(), down_.next(), posted_.next()});
  if (devices_ != nullptr) next = std::min(next, devices_->next(t));
  if (inbound_ != nullptr) {
    // There is room for another request from outside, which is looked for at the next edge.
    if (inbound_->unsent() != unsent) next = std::min(next, t + 1);
    next = std::min(next, inbound_->next());
  }
  // While the wire is taken, whatever could use it waits for it. What does not fit waits for an
  // answer, which is on its way.
  if (wire_.up_free() > t && wants_wire()) next = std::min(next, wire_.up_free());
  if (devices_ != nullptr) outside = std::min(outside, devices_->transmit(now));
  return next == kNever ? outside : std::min(outside, domain().cycle_of(next));
}

/// What is next on the wire upward, which is free: further legs, then answers to those outside and new
/// requests by turns.
void PcieLink::put_up(Cycle now, std::uint64_t t) {
  if (!legs_.empty()) {
    PcieTransfer* const leg = legs_.front();
    legs_.pop_front();
    return send_up(t, *leg);
  }
  const bool parked = devices_ != nullptr && devices_->parked_goes();
  const unsigned port = parked ? TargetPorts::kNone : choose();
  const bool asks = parked || port != TargetPorts::kNone;
  if (inbound_ != nullptr && inbound_->unsent() != 0 && !(asks && answered_last_)) {
    answered_last_ = true;
    return inbound_->send_answer(t);
  }
  if (!asks) return;
  answered_last_ = false;
  if (!parked) return send_up(t, begin(*ports_.take(now, port), port));
  const DeviceEnd::Parked first = devices_->unpark();
  send_up(t, begin(*first.request, first.port));
}

unsigned PcieLink::choose() const {
  return ports_.choose([this](const Request& r) {
    const bool to_devices = is_for_devices(r);
    return transfers_.fits(r, to_devices) && (!to_devices || devices_->parked().empty());
  });
}

void PcieLink::send_up(std::uint64_t t, PcieTransfer& transfer) {
  const std::uint64_t on_wire = wire_.send_up(t, core_.packets_up(transfer));
  const std::uint64_t at_end = on_wire + core_.parameters().latency;
  if (transfer.to_devices) {
    devices_->expect(at_end, transfer);
  } else {
    memory_of(transfer).expect(at_end, transfer);
  }
  if (transfer.posted()) posted_.push(on_wire, &transfer);
}

/// A leg is answered. Whether it was the last one; then so is the request.
bool PcieLink::ends(PcieTransfer& transfer) {
  if (transfers_.next_leg(transfer)) return false;
  answer(transfer);
  transfers_.release(transfer);
  return true;
}

void PcieLink::perform(Request& r, Cycle& at) {
  // The wire is idle for it: accesses may come with local times in any order.
  PcieTransfer& transfer = begin(r, TargetPorts::kNone);
  const unsigned latency = core_.parameters().latency;
  std::uint64_t t = domain().edge_at_or_after(at);
  do {
    t += wire_.count_up(core_.packets_up(transfer));
    at = domain().cycle_of(t);
    const bool posted = transfer.posted();
    if (posted) answer(transfer);
    t += latency;
    if (transfer.to_devices) {
      devices_->perform(t, transfer);
    } else {
      memory_of(transfer).perform(t, transfer);
    }
    if (posted) return transfers_.release(transfer);
    t += wire_.count_down(transfer.completion) + latency;
    // Writes that are not performed are somebody's who is blocked below.
    while (transfer.to_devices && !devices_->is_in_order(transfer))
      t = std::max(t, domain().edge_at_or_after(engine().wait_below()));
  } while (!ends(transfer));
  at = domain().cycle_of(t);
}

void PcieLink::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("transfers", transfers_.under_way(), kUnlimitedGauge, "requests on their way over the link");
  visitor.gauge("tags", transfers_.tags(), core_.parameters().tags,
                "tags in use: reads and atomics not yet answered");
  visitor.gauge("legs", legs_.size(), kUnlimitedGauge, "further packets of them that wait for the wire");
  visitor.gauge("answers", ports_.unsent(), kUnlimitedGauge, "responses that wait for their channel");
  if (devices_ != nullptr)
    visitor.gauge("parked", devices_->parked().size(), kUnlimitedGauge,
                  "requests for devices, the first of which waits for an answer about its line");
  if (inbound_ != nullptr) inbound_->visit_gauges(visitor);
}

void PcieLink::explain(std::vector<Wait>& waits) const {
  if (const std::size_t n = transfers_.under_way(); n != 0)
    waits.push_back({name(), std::to_string(n) + " transfers to cross the link"});
  ports_.explain(waits);
  if (devices_ != nullptr) devices_->explain(waits);
  if (inbound_ != nullptr) inbound_->explain(waits);
}

void PcieLink::in_flight(std::vector<InFlight>& rows) const {
  for (const PcieTransfer* transfer : legs_)
    rows.emplace_back(*transfer->request, name(), name() + " next leg", "the wire upward");
  list_timed(rows, *this, posted_, " wire upward", "its last packet to be on the wire", true);
  sysmem_.in_flight(rows);
  peer_.in_flight(rows);
  list_timed(rows, *this, down_, " wire downward", "its completion to arrive");
  if (devices_ != nullptr) devices_->in_flight(rows);
  ports_.in_flight(rows);
}

}  // namespace warpline
