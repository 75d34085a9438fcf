#include "rtl_models/sm_network/sm_network.h"

#include <utility>

#include "rtl_models/base/text.h"
#include "rtl_models/sim/gauge_visitor.h"

namespace warpline {
SmNetwork::SmNetwork(Engine& engine, std::string name, ClockDomain domain, unsigned sms,
                     const GpcShape& shape, SmNetworkWidths widths)
    : Component(engine, std::move(name), domain),
      core_(sms, shape, widths),
      request_arrivals_(sms),
      response_arrivals_(sms),
      refusals_(sms) {
  WARPLINE_EXPECT(sms >= 1 && sms <= 2047, "a network has 1 to 2047 SMs");
  for (unsigned i = 0; i < sms; ++i) {
    from_sm_.push_back(std::make_unique<In<RequestMessage>>(*this, indexed("from_sm", i)));
    to_sm_.push_back(std::make_unique<Out<ResponseMessage>>(*this, indexed("to_sm", i)));
    to_shared_.push_back(std::make_unique<Out<RequestMessage>>(*this, indexed("to_shared", i)));
    from_shared_.push_back(std::make_unique<In<ResponseMessage>>(*this, indexed("from_shared", i)));
    from_sm_.back()->attach(request_arrivals_, i);
    from_sm_.back()->perform_by(*this);
    from_shared_.back()->attach(response_arrivals_, i);
  }
}

Cycle SmNetwork::tick(Cycle now) {
  request_arrivals_.collect(now, [this, now](unsigned from) { enter_request(now, from); });
  response_arrivals_.collect(
      now, [this](unsigned sm) { core_.responses().ask(from_shared_[sm]->front().request->route, sm); });
  core_.requests().for_each_asked([this, now](unsigned sm) { send_request(now, sm); });
  core_.responses().for_each_asked([this, now](unsigned sm) { send_response(now, sm); });
  // Heads that could not go wait for an output, whose failed ready() wakes us, or for their turn.
  return kNever;
}

void SmNetwork::enter_request(Cycle now, unsigned from) {
  Request* r = from_sm_[from]->front().request;
  if (const auto sm = core_.destination(*r, from)) {
    core_.requests().ask(*sm, from);
    return;
  }
  from_sm_[from]->pop(now);
  core_.count_refusal(*r);
  r->status = Status::address_error;
  if (refusals_[from].empty()) core_.responses().ask(from, core_.refusals());
  refusals_[from].push(r);
  ++refused_;
}

void SmNetwork::send_request(Cycle now, unsigned sm) {
  Out<RequestMessage>& out = *to_shared_[sm];
  if (!out.ready(now)) return;
  const unsigned from = core_.grant_request(sm);
  Request* r = from_sm_[from]->pop(now).request;
  r->route = static_cast<std::uint16_t>(from);
  core_.count_request(*r);
  out.send(now, {r});
  if (core_.requests().asking(sm) != 0) static_cast<void>(out.ready(now));  // not yet: asks for the wake
}

void SmNetwork::send_response(Cycle now, unsigned sm) {
  Out<ResponseMessage>& out = *to_sm_[sm];
  if (!out.ready(now)) return;
  const unsigned input = core_.grant_response(sm);
  Request* r = nullptr;
  if (input == core_.refusals()) {
    r = refusals_[sm].pop();
    --refused_;
    if (!refusals_[sm].empty()) core_.responses().ask(sm, input);
  } else {
    r = from_shared_[input]->pop(now).request;
  }
  core_.count_response(*r);
  out.send(now, {r});
  if (core_.responses().asking(sm) != 0) static_cast<void>(out.ready(now));
}

void SmNetwork::perform(Request& r, Cycle& at) {
  if (const auto sm = core_.destination(r, r.sm)) {
    core_.count_request(r);
    at = perform_through(*to_shared_[*sm], *from_shared_[*sm], r, at);
  } else {
    core_.count_refusal(r);
    r.status = Status::address_error;
  }
  core_.count_response(r);
}

void SmNetwork::visit_gauges(GaugeVisitor& visitor) const {
  const auto sms = static_cast<unsigned>(from_sm_.size());
  unsigned requests = 0, responses = 0;
  for (unsigned sm = 0; sm < sms; ++sm) {
    requests += core_.requests().asking(sm);
    responses += core_.responses().asking(sm);
  }
  visitor.gauge("requests_waiting", requests, sms, "SMs' first requests to be sent to a shared memory");
  visitor.gauge("responses_waiting", responses, std::uint64_t{2} * sms,
                "shared memories' first answers to be sent, and refusals");
}

void SmNetwork::explain(std::vector<Wait>& waits) const {
  core_.requests().for_each_asked([&](unsigned sm) {
    to_shared_[sm]->explain_room(waits, std::to_string(core_.requests().asking(sm)) + " requests");
  });
  core_.responses().for_each_asked([&](unsigned sm) {
    to_sm_[sm]->explain_room(waits, std::to_string(core_.responses().asking(sm)) + " answers");
  });
}

void SmNetwork::in_flight(std::vector<InFlight>& rows) const {
  for (std::size_t sm = 0; sm < refusals_.size(); ++sm) to_sm_[sm]->list_waiting(rows, refusals_[sm]);
}

}  // namespace warpline
