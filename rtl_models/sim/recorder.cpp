#include "rtl_models/sim/recorder.h"

#include <algorithm>
#include <tuple>

namespace warpline {
namespace {

/// See Observer::message.
unsigned phase_of(const MessageEvent& e) {
  if (e.taken) return 0;
  return e.response ? 1 : 2;
}

}  // namespace

std::uint32_t Recorder::add_signal(Signal signal) {
  WARPLINE_EXPECT(!started_ && changes_.empty(), "signals are declared before anything is recorded");
  signals_.push_back(std::move(signal));
  values_.push_back(0);
  return static_cast<std::uint32_t>(signals_.size() - 1);
}

/// No event is yet to come that lies before this cycle.
Cycle Recorder::settled() const {
  return std::min(engine_.settled(), engine_.last_move() + 1);
}

void Recorder::hand_on_batch() {
  const Cycle end = settled();
  for (Source* s : sources_) s->catch_up(end);
  hand_on(end);
  // What could not be handed on must not be sorted again and again.
  batch_ = std::max(kBatch, 2 * std::max(changes_.size(), messages_.size()));
}

void Recorder::start() {
  for (Source* s : sources_) s->describe(signals_);
  told_ = values_;
  started_ = true;
  observer_.start(window_.first, signals_, values_);
}

void Recorder::hand_on(Cycle end) {
  if (!started_ && end > window_.first) {
    hand_on_changes(window_.first);
    start();
  }
  hand_on_changes(end);
  if (started_) hand_on_messages(end);
}

void Recorder::hand_on_changes(Cycle end) {
  const auto kept = std::stable_partition(changes_.begin(), changes_.end(),
                                          [end](const Change& c) { return c.cycle < end; });
  std::stable_sort(changes_.begin(), kept, [](const Change& a, const Change& b) {
    return std::tie(a.cycle, a.signal) < std::tie(b.cycle, b.signal);
  });
  for (auto c = changes_.begin(); c != kept; ++c) {
    std::uint64_t& value = values_[c->signal];
    value = c->relative ? value + c->value : c->value;
    if (!started_) continue;
    const auto next = c + 1;
    const bool last_of_cycle = next == kept || next->signal != c->signal || next->cycle != c->cycle;
    if (!last_of_cycle || value == told_[c->signal]) continue;
    told_[c->signal] = value;
    observer_.change(c->cycle, c->signal, value);
  }
  changes_.erase(changes_.begin(), kept);
}

void Recorder::hand_on_messages(Cycle end) {
  const auto kept = std::stable_partition(messages_.begin(), messages_.end(),
                                          [end](const MessageEvent& e) { return e.cycle < end; });
  // Of one port at most one message begins in a cycle; those taken keep their order.
  std::stable_sort(messages_.begin(), kept, [](const MessageEvent& a, const MessageEvent& b) {
    return std::make_tuple(a.cycle, phase_of(a), a.order) < std::make_tuple(b.cycle, phase_of(b), b.order);
  });
  for (auto e = messages_.begin(); e != kept; ++e) observer_.message(*e);
  messages_.erase(messages_.begin(), kept);
}

void Recorder::settle() {
  const Cycle now = engine_.now();
  for (Change& c : changes_) c.cycle = std::min(c.cycle, now);
}

void Recorder::finish() {
  for (Source* s : sources_) s->catch_up(kNever);
  // A beat that is on the wire when the run is cut off ends later.
  const Cycle last = std::min(window_.last, engine_.now());
  hand_on(last + 1);
  if (!started_) start();
  observer_.finish(std::max(window_.first, last));
}

}  // namespace warpline
