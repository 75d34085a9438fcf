#include "rtl_models/gpu_switch/gpu_switch.h"

#include <algorithm>
#include <utility>

#include "rtl_models/base/text.h"
#include "rtl_models/gpu_switch/gpu_switch_mutations.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {
GpuSwitch::GpuSwitch(Engine& engine, std::string name, ClockDomain domain, unsigned gpus,
                     const GpuSwitchParameters& parameters, GpuSwitchWidths widths,
                     const MulticastTable& table, bool with_data)
    : Component(engine, std::move(name), domain),
      core_(gpus, parameters, widths, table, with_data),
      request_arrivals_(gpus),
      answer_arrivals_(gpus),
      ports_(gpus) {
  WARPLINE_EXPECT(gpus >= 1 && gpus <= kMaxReplicas, "a switch has 1 to 8 GPUs");
  for (unsigned i = 0; i < gpus; ++i) {
    from_gpu_.push_back(std::make_unique<In<RequestMessage>>(*this, indexed("from_gpu", i)));
    to_gpu_.push_back(std::make_unique<Out<ResponseMessage>>(*this, indexed("to_gpu", i)));
    to_replica_.push_back(std::make_unique<Out<RequestMessage>>(*this, indexed("to_replica", i)));
    from_replica_.push_back(std::make_unique<In<ResponseMessage>>(*this, indexed("from_replica", i)));
    from_gpu_.back()->attach(request_arrivals_, i);
    from_gpu_.back()->perform_by(*this);
    from_replica_.back()->attach(answer_arrivals_, i);
  }
}

std::string GpuSwitch::port_name(unsigned gpu) const {
  return name() + ".gpu[" + std::to_string(gpu) + "]";
}

Cycle GpuSwitch::tick(Cycle now) {
  request_arrivals_.collect(now, [this](unsigned gpu) { ports_[gpu].asks = true; });
  answer_arrivals_.collect(now, [this](unsigned gpu) { ports_[gpu].answers = true; });
  for (unsigned gpu = 0; gpu < ports_.size(); ++gpu)
    if (ports_[gpu].answers) take_answer(now, gpu);
  for (unsigned gpu = 0; gpu < ports_.size(); ++gpu)
    if (ports_[gpu].asks) take_request(now, gpu);
  for (unsigned gpu = 0; gpu < ports_.size() && waiting_ != 0; ++gpu) {
    send_part(now, gpu);
    send_answer(now, gpu);
  }
  // What could not go waits for an output, whose failed ready() wakes us, or for an answer that makes room.
  return kNever;
}

void GpuSwitch::take_answer(Cycle now, unsigned gpu) {
  ports_[gpu].answers = false;
  const Request* const part = from_replica_[gpu]->pop(now).request;
  const GpuSwitchCore::Ended ended = core_.end(*part, pool());
  if (ended.original == nullptr) return;
  ports_[ended.gpu].to_gpu.push(ended.original);
  ++waiting_;
}

void GpuSwitch::take_request(Cycle now, unsigned gpu) {
  Port& port = ports_[gpu];
  if (!core_.has_room(gpu)) {
    if (!std::exchange(port.counted, true)) core_.count_wait(gpu);
    return;
  }
  port.asks = port.counted = false;
  Request* const r = from_gpu_[gpu]->pop(now).request;
  const GpuSwitchCore::Parts parts = core_.begin(*r, gpu, pool(), this);
  for (unsigned n = 0; n < parts.count; ++n) {
    RequestQueue& queue = ports_[parts.gpus[n]].to_replica;
    if (mutated(GpuSwitchMutation::replica_requests_overtake)) {
      queue.push_front(parts.requests[n]);
    } else {
      queue.push(parts.requests[n]);
    }
  }
  if (parts.count == 0) port.to_gpu.push(r);
  waiting_ += std::max(parts.count, 1U);
}

void GpuSwitch::send_part(Cycle now, unsigned gpu) {
  RequestQueue& queue = ports_[gpu].to_replica;
  Out<RequestMessage>& out = *to_replica_[gpu];
  if (queue.empty() || !out.ready(now)) return;
  --waiting_;
  out.send(now, {queue.pop()});
  if (!queue.empty()) static_cast<void>(out.ready(now));  // not yet: asks for the wake
}

void GpuSwitch::send_answer(Cycle now, unsigned gpu) {
  RequestQueue& queue = ports_[gpu].to_gpu;
  Out<ResponseMessage>& out = *to_gpu_[gpu];
  if (queue.empty() || !out.ready(now)) return;
  --waiting_;
  Request* const r = queue.pop();
  core_.count_response(*r, gpu);
  out.send(now, {r});
  if (!queue.empty()) static_cast<void>(out.ready(now));
}

void GpuSwitch::perform(Request& r, Cycle& at) {
  const unsigned gpu = std::min<unsigned>(r.gpu, gpus() - 1);
  const GpuSwitchCore::Parts parts = core_.split(r, gpu, pool(), this);
  const Cycle sent = at;
  for (unsigned n = 0; n < parts.count; ++n) {
    const unsigned to = parts.gpus[n];
    at = std::max(at, perform_through(*to_replica_[to], *from_replica_[to], *parts.requests[n], sent));
  }
  if (parts.count != 0) core_.join(r, parts, pool());
  core_.count_response(r, gpu);
}

void GpuSwitch::visit_gauges(GaugeVisitor& visitor) const {
  visitor.gauge("requests", core_.under_way(), std::uint64_t{core_.limit()} * gpus(),
                "of GPUs, whose replicas have not all answered");
  unsigned parts = 0, answers = 0;
  for (const Port& port : ports_) {
    parts += port.to_replica.size();
    answers += port.to_gpu.size();
  }
  visitor.gauge("replica_requests_waiting", parts, kUnlimitedGauge, "requests for replicas, to be sent");
  visitor.gauge("responses_waiting", answers, kUnlimitedGauge, "answers for GPUs, to be sent");
}

void GpuSwitch::explain(std::vector<Wait>& waits) const {
  for (unsigned gpu = 0; gpu < ports_.size(); ++gpu) {
    const Port& port = ports_[gpu];
    if (!port.to_replica.empty())
      to_replica_[gpu]->explain_room(waits, std::to_string(port.to_replica.size()) + " requests");
    if (!port.to_gpu.empty())
      to_gpu_[gpu]->explain_room(waits, std::to_string(port.to_gpu.size()) + " answers");
  }
  if (core_.under_way() != 0)
    waits.push_back({name(),
                     std::to_string(core_.under_way()) + " requests to be answered by every replica",
                     {},
                     {this}});
}

void GpuSwitch::in_flight(std::vector<InFlight>& rows) const {
  core_.for_each_under_way([&](std::uint16_t number, const Request& r) {
    rows.emplace_back(r, name(), name() + " request", "every replica to answer", std::vector<std::string>{},
                      Awaited{this, number});
  });
  for (unsigned gpu = 0; gpu < ports_.size(); ++gpu) {
    to_replica_[gpu]->list_waiting(rows, ports_[gpu].to_replica.list());
    to_gpu_[gpu]->list_waiting(rows, ports_[gpu].to_gpu.list());
  }
}

}  // namespace warpline
