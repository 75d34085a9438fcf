#include "rtl_models/sim/loose_hop.h"

#include <algorithm>

namespace warpline {

LooseHop::LooseHop(Out<RequestMessage>& out, In<ResponseMessage>& in, bool in_step)
    : Component(out.owner(), out.path() + ".loose"), out_(out), in_(in), in_step_(in_step) {}

void LooseHop::set_loose(bool loose) {
  if (loose == loose_) return;
  WARPLINE_EXPECT(due_.empty() && in_.occupancy() == 0, "a netlist changes its kind of time at rest");
  loose_ = loose;
  if (loose) {
    binding_ = out_.rebind({nullptr, this});
    source_ = in_.rebind({nullptr, this});
    in_free_ = 0;
  } else {
    out_.rebind(binding_);
    in_.rebind(source_);
  }
}

Cycle LooseHop::begin(Cycle t, const RequestMessage& message) {
  Cycle at = t;
  // What lies behind a carrier does not say how wide its wires are: as wide as the way back.
  const In<RequestMessage>* direct = binding_.direct;
  const unsigned beats = message.beats((direct != nullptr ? direct->parameters() : in_.parameters()).width);
  perform(message, at);
  due_.push({at, order_++, message.request});
  wake(std::max(at, t + 1));
  return domain().after(t, beats);
}

void LooseHop::perform(const RequestMessage& message, Cycle& at) {
  if (vidmem_ != nullptr && VidmemAccess::takes(*message.request)) {
    vidmem_->perform(*message.request, at);
  } else {
    binding_.perform(message, at);
  }
}

Cycle LooseHop::tick(Cycle now) {
  while (!due_.empty() && due_.top().at <= now && in_free_ <= now) {
    in_free_ = in_.begin(now, {due_.top().request});
    due_.pop();
  }
  if (due_.empty() || in_free_ == kNever) return kNever;
  return std::max({now + 1, due_.top().at, in_free_});
}

void LooseHop::explain(std::vector<Wait>& waits) const {
  if (!due_.empty())
    waits.push_back({name(), std::to_string(due_.size()) + " answers whose time has not come"});
}

void LooseHop::in_flight(std::vector<InFlight>& rows) const {
  for (auto due = due_; !due.empty(); due.pop())
    rows.emplace_back(*due.top().request, name(), name(),
                      "cycle " + std::to_string(due.top().at) + ", when its answer is due");
}

}  // namespace warpline
