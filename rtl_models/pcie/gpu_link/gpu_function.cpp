#include "rtl_models/pcie/gpu_link/gpu_function.h"

#include <algorithm>

namespace warpline {

FunctionDescription GpuFunction::description(const Memory& memory) {
  FunctionDescription d;
  d.device = 0x0002;
  d.class_code = 0x030200;  // a 3D controller
  d.bars[kMemoryBar] = {memory.bar_bytes, memory.bar_bytes != 0, memory.bar_bytes != 0};
  if (memory.registers) GpuRegisters::add_to(d);
  return d;
}

GpuFunction::GpuFunction(Component& link, TlpPool& pool, FunctionId id, const LinkParameters& parameters,
                         const Memory& memory)
    : endpoint_(pool, id, description(memory), parameters),
      port_(link, "root", parameters),
      link_(link),
      pool_(pool),
      memory_(memory) {
  if (memory.registers) registers_.emplace(endpoint_, memory.log_entries);
  port_.on_request([this](const Tlp& tlp, Cycle now) { endpoint_.sent(tlp, now); });
}

void GpuFunction::issue(Cycle now) {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    Tlp* const tlp = waiting_.front();
    const ReadPart refusal{tlp->cookie, tlp->address, {}, TlpOutcome::unsupported_request, true, tlp->bytes};
    if (endpoint_.may_write() && !tlp->posted()) {
      if (!endpoint_.may_read()) return;
      under_way_.push_back(refusal);
      endpoint_.request(tlp, now);
      continue;
    }
    if (endpoint_.may_write()) {
      endpoint_.write(tlp->address, tlp->data.data(), tlp->bytes, tlp->relaxed_ordering);
    } else if (tlp->posted()) {
      ++counters_.refused;
    } else {
      refuse(refusal);
    }
    pool_.release(tlp);
  }
}

void GpuFunction::collect() {
  for (auto& parts = endpoint_.parts(); !parts.empty(); parts.pop_front()) {
    ReadPart& part = parts.front();
    counters_.refused += part.outcome != TlpOutcome::done;
    if (part.last)
      under_way_.erase(std::find_if(under_way_.begin(), under_way_.end(),
                                    [&](const ReadPart& r) { return r.cookie == part.cookie; }));
    parts_.push_back(std::move(part));
  }
}

/// Its software has reset it.
void GpuFunction::restart_softly() {
  if (registers_) registers_->power_on();
  forget();
}

/// What the endpoint has forgotten, nobody answers any more.
void GpuFunction::forget() {
  for (const ReadPart& refusal : under_way_) refuse(refusal);
  under_way_.clear();
}

void GpuFunction::hot_reset() {
  endpoint_.reset();
  if (registers_) registers_->power_on();
  forget();
  for (Tlp* const tlp : waiting_) {
    if (!tlp->posted())
      refuse({tlp->cookie, tlp->address, {}, TlpOutcome::unsupported_request, true, tlp->bytes});
    pool_.release(tlp);
  }
  waiting_.clear();
  port_.cut(pool_);
}

void GpuFunction::exchange(Cycle now, Room room) {
  const auto fits = [&](const Tlp& tlp) {
    const bool configures = tlp.kind == TlpKind::config_read || tlp.kind == TlpKind::config_write;
    if (memory_.bar_bytes == 0 || tlp.kind == TlpKind::completion || configures) return true;
    return (tlp.posted() ? room.posted : room.non_posted) != 0;
  };
  while (Tlp* const tlp = port_.next(now, fits)) {
    port_.take(now, tlp);
    EndpointCore::BarRequest request;
    if (endpoint_.receive(tlp, request)) claim(request, room);
    collect();
    if (endpoint_.config().take_soft_reset()) restart_softly();
  }
  endpoint_.expire(now);
  issue(now);
  if (registers_ && waiting_.empty()) {
    static_cast<void>(registers_->step(now, 1));
    endpoint_.send_interrupts();
  }
  for (auto& packets = endpoint_.outgoing(); !packets.empty(); packets.pop_front())
    port_.send(packets.front());
  collect();
}

Cycle GpuFunction::transmit(Cycle now) {
  const Cycle more = port_.transmit(now);
  return std::min(more, endpoint_.next_expiry());
}

void GpuFunction::exchange_loosely(Cycle& at) {
  WARPLINE_EXPECT(root_ != nullptr, "somebody performs what is loosely timed");
  const Cycle made = at;
  while (!waiting_.empty()) {
    issue(made);
    for (auto& packets = endpoint_.outgoing(); !packets.empty();) {
      Tlp* const tlp = packets.front();
      packets.pop_front();
      // Packets of one access follow each other closely: the last answer to come is when all have.
      Cycle answered = made + port_.parameters().cycles_of(tlp->payload());
      endpoint_.perform_outside(tlp, *root_, answered);
      at = std::max(at, answered);
    }
  }
  collect();
}

void GpuFunction::perform(Tlp& tlp, Cycle& at) {
  perform_request(tlp, at);
  // What held an interrupt back may be over.
  if (registers_ && endpoint_.msix()->any_pending()) link_.wake(link_.engine().now() + 1);
}

void GpuFunction::perform_request(Tlp& tlp, Cycle& at) {
  EndpointCore::BarRequest request;
  const bool claimed = endpoint_.receive_loosely(tlp, request);
  if (endpoint_.config().take_soft_reset()) restart_softly();
  if (!claimed) return;
  if (is_for_link(request)) {
    WARPLINE_EXPECT(loose_memory_ != nullptr, "somebody performs what is loosely timed");
    loose_memory_->perform_inbound(*request.tlp, request.where, at);
    tlp.status = request.tlp->status;
    if (tlp.status == CompletionStatus::successful) {
      tlp.data.swap(request.tlp->data);
      return pool_.release(request.tlp);
    }
  }
  auto& packets = endpoint_.outgoing();
  const std::size_t before = packets.size();
  if (tlp.status == CompletionStatus::completer_abort) {
    endpoint_.abort(request.tlp);
  } else {
    endpoint_.refuse(request.tlp);
  }
  // The answer is `tlp` itself.
  for (; packets.size() > before; packets.pop_back()) pool_.release(packets.back());
}

}  // namespace warpline
