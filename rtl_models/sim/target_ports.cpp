#include "rtl_models/sim/target_ports.h"

namespace warpline {

TargetPorts::TargetPorts(Component& owner, const std::string& from, const std::string& to, unsigned count)
    : arrivals_(count), requests_(1, count), replies_(count, 1), answers_(count) {
  WARPLINE_EXPECT(count > 0, "a target has a port");
  for (unsigned i = 0; i < count; ++i) {
    const std::string index = count == 1 ? "" : "[" + std::to_string(i) + "]";
    ins_.push_back(std::make_unique<In<RequestMessage>>(owner, from + index));
    outs_.push_back(std::make_unique<Out<ResponseMessage>>(owner, to + index));
    ins_.back()->attach(arrivals_, i);
  }
}

void TargetPorts::send_queued_answers(Cycle now) {
  replies_.for_each_asked([&](unsigned port) {
    Out<ResponseMessage>& out = *outs_[port];
    if (!out.ready(now)) return;
    out.send(now, ResponseMessage{answers_[port].pop()});
    --unsent_;
    if (answers_[port].empty()) {
      replies_.grant(port, 0);
    } else {
      static_cast<void>(out.ready(now));  // not before the next cycle: asks for the wake
    }
  });
}

void TargetPorts::explain(std::vector<Wait>& waits) const {
  replies_.for_each_asked([&](unsigned port) { outs_[port]->explain_room(waits, "an answer"); });
}

void TargetPorts::in_flight(std::vector<InFlight>& rows) const {
  for (unsigned port = 0; port < count(); ++port) outs_[port]->list_waiting(rows, answers_[port]);
}

}  // namespace warpline
