#include "rtl_models/pcie/endpoint/endpoint_device.h"

#include <algorithm>

#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {

EndpointDevice::EndpointDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool,
                               FunctionId id, const FunctionDescription& description,
                               const LinkParameters& link, const Timing& timing)
    : Component(engine, std::move(name), domain),
      pool_(pool),
      timing_(timing),
      endpoint_(pool, id, description, link),
      link_(*this, "root", link) {
  link_.on_request([this](const Tlp& tlp, Cycle now) { endpoint_.sent(tlp, now); });
}

void EndpointDevice::serve(EndpointFunction& function) {
  WARPLINE_EXPECT(function_ == nullptr, "a device is one function");
  function_ = &function;
  const RegisterMap& map = function.registers().map();
  for (unsigned index = 0; index < map.register_count; ++index) {
    const RegisterDescription& r = map.registers[index];
    const std::uint64_t most = ~std::uint64_t{0} >> (64U - 8U * r.bytes);
    for (unsigned element = 0; element < r.count; ++element)
      registers_.push_back({"registers." + name_of(map, {index, element}), {index, element}, most});
  }
}

Cycle EndpointDevice::tick(Cycle now) {
  const std::uint64_t t = domain().edge_at_or_after(now);
  take(now, t);
  answers_.take_due(t, [&](const auto& answer) {
    endpoint_.complete(answer.what, CompletionStatus::successful, answer.what->data.data());
  });
  Cycle next = work(now);
  for (auto& packets = endpoint_.outgoing(); !packets.empty(); packets.pop_front())
    link_.send(packets.front());
  next = std::min(next, link_.transmit(now));
  next = std::min(next, endpoint_.next_expiry());
  if (!answers_.empty()) next = std::min(next, domain().cycle_of(answers_.next()));
  return next;
}

void EndpointDevice::take(Cycle now, std::uint64_t t) {
  const auto fits = [this](const Tlp& tlp) {
    return class_of(tlp.kind) != TlpClass::non_posted || answers_.size() < kAnswers;
  };
  while (Tlp* const tlp = link_.next(now, fits)) {
    link_.take(now, tlp);
    if (!present_) {
      pool_.release(tlp);
      continue;
    }
    EndpointCore::BarRequest request;
    const bool for_device = endpoint_.receive(tlp, request);
    if (endpoint_.config().take_soft_reset()) function_->power_on();
    if (!for_device) continue;
    perform(request, now);
    if (request.tlp->posted()) {
      pool_.release(request.tlp);
    } else {
      answers_.push(t + timing_.access_latency, request.tlp);
    }
  }
}

/// What the function has to do. Returns when it has more.
Cycle EndpointDevice::work(Cycle now) {
  if (loose_) return run_loosely(now);
  endpoint_.expire(now);
  const auto waiting = static_cast<unsigned>(std::min<std::size_t>(link_.waiting(), timing_.write_queue));
  const unsigned room = timing_.write_queue - waiting;
  Cycle next = function_->step(now, room);
  endpoint_.send_interrupts();
  // A full queue may be empty before anything else happens.
  if (function_->busy() && endpoint_.outgoing().size() + waiting >= timing_.write_queue)
    next = std::min(next, domain().cycle_of(domain().edge_at_or_after(now) + 1));
  return next;
}

/// Does what can be done in cycle `now`, of about kSlice cycles. Returns when there is more to do. A packet
/// that it sends may make another device access this one before the call returns. Such a nested call leaves
/// the work to the outer one, so that two devices that access each other do not recurse ever deeper.
Cycle EndpointDevice::run_loosely(Cycle now) {
  WARPLINE_EXPECT(root_ != nullptr, "somebody performs what is loosely timed");
  if (running_) return kNever;
  running_ = true;
  // What software asks for meanwhile follows.
  Cycle at = std::max(now, done_);
  for (bool sent = false;; sent = true) {
    const Cycle next = function_->step(at, timing_.write_queue);
    endpoint_.send_interrupts();
    if (endpoint_.outgoing().empty()) {
      running_ = false;
      done_ = at;
      // Time passes until what was sent is there, though all is done.
      return sent ? std::min(next, at) : next;
    }
    at = send_loosely(at);
    if (at > now + kSlice) {
      running_ = false;
      done_ = at;
      return at;
    }
  }
}

/// Packets that it has made go on the link one behind the other from cycle `now` on. Returns when the last is
/// on its way, and all answers have come.
Cycle EndpointDevice::send_loosely(Cycle now) {
  auto& packets = endpoint_.outgoing();
  std::uint64_t free = domain().edge_at_or_after(now);
  Cycle came = now;
  while (!packets.empty()) {
    Tlp* const tlp = packets.front();
    packets.pop_front();
    const bool posted = tlp->posted();
    // The payload of an answer takes the link the other way. It is counted here, so that reads follow each
    // other no faster than their answers can; writes behind them wait as long.
    const LinkParameters& link = link_.parameters();
    const unsigned payload = posted ? tlp->payload() : tlp->bytes;
    Cycle at = domain().cycle_of(free);
    free += (kTlpOverhead + payload + link.bytes_per_cycle - 1) / link.bytes_per_cycle;
    endpoint_.perform_outside(tlp, *root_, at);
    if (!posted)
      came = std::max(came, domain().cycle_of(domain().edge_at_or_after(at) + link.cycles_of(payload)));
  }
  return std::max(came, domain().cycle_of(free));
}

void EndpointDevice::perform(Tlp& tlp, Cycle& at) {
  tlp.status = CompletionStatus::unsupported_request;
  if (!present_) return;
  EndpointCore::BarRequest request;
  const bool for_device = endpoint_.receive_loosely(tlp, request);
  if (endpoint_.config().take_soft_reset()) function_->power_on();
  if (for_device) {
    perform(request, at);
    tlp.status = CompletionStatus::successful;
    tlp.data.swap(request.tlp->data);
    pool_.release(request.tlp);
    at = domain().cycle_of(domain().edge_at_or_after(at) + timing_.access_latency);
  }
  if (const Cycle next = run_loosely(at); next != kNever) wake(next);
}

void EndpointDevice::hot_reset() {
  done_ = 0;
  endpoint_.reset();
  function_->power_on();
  link_.cut(pool_);
  for (const auto& answer : answers_) pool_.release(answer.what);
  answers_.clear();
}

void EndpointDevice::archive(StateArchive& a) {
  a(endpoint_);
  function_->archive(a);
  a(link_, present_);
  done_ = 0;  // whoever is saved is at rest
}

void EndpointDevice::explain(std::vector<Wait>& waits) const {
  if (const unsigned n = endpoint_.reads_in_flight(); n != 0)
    waits.push_back({name(), std::to_string(n) + " reads of memory"});
  if (function_->busy()) waits.push_back({name(), "its commands to be completed"});
  link_.explain(waits);
}

void EndpointDevice::visit(CounterVisitor& visitor) const {
  function_->visit(name(), visitor);
  visit_counters(name() + ".endpoint", endpoint_.counters(), visitor);
  visit_counters(name() + ".link", link_.counters(), visitor);
}

void EndpointDevice::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("reads", endpoint_.reads_in_flight(), link_.parameters().tags, "reads of memory under way");
  visitor.gauge("answers", answers_.size(), kAnswers, "requests that wait for their answer");
  function_->visit_gauges(visitor);
  if (const MsixTable* const msix = endpoint_.msix(); msix != nullptr) {
    // A gauge has 64 bits: of the vectors behind them, nothing is shown.
    const unsigned shown = std::min(msix->vectors(), 64U);
    std::uint64_t pending = 0, masked = 0;
    for (unsigned v = 0; v < shown; ++v) {
      pending |= std::uint64_t{msix->pending(v)} << v;
      masked |= std::uint64_t{msix->masked(v)} << v;
    }
    const std::uint64_t vectors = ~std::uint64_t{0} >> (64U - shown);
    visitor.gauge("msix.pending", pending, vectors, "vectors that were raised and not yet sent, a bit each");
    visitor.gauge("msix.masked", masked, vectors, "vectors that software has masked, a bit each");
  }
  const RegisterFile& registers = function_->registers();
  for (const NamedRegister& r : registers_)
    visitor.gauge(r.name, registers.look(r.at.index, r.at.element), r.most,
                  registers.map().registers[r.at.index].meaning);
}

}  // namespace warpline
