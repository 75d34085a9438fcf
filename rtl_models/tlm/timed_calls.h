#pragma once

#include <deque>
#include <optional>
#include <systemc>
#include <vector>

#include "rtl_models/tlm/foreign_payloads.h"

namespace warpline {

/// A call of b_transport whose request is timed: its thread waits for the answer.
struct TimedCall {
  Request* request = nullptr;
  /// The payload, where it is foreign: `request` stands for it. Else it is the request of one of our
  /// payloads.
  std::optional<ForeignPayload> foreign;
  Cycle begun = 0;
  bool answered = false;
  bool abandoned = false;  ///< the thread was killed: nobody waits, and the payload may be gone
  sc_core::sc_event event;
};

/// The calls of b_transport at one socket whose requests are timed, recycled: an event costs SystemC a name.
class TimedCalls {
 public:
  /// One that is under way from now on.
  [[nodiscard]] TimedCall& take() {
    if (free_.empty()) free_.push_back(&all_.emplace_back());
    TimedCall& call = *free_.back();
    free_.pop_back();
    call.answered = call.abandoned = false;
    under_way_.push_back(&call);
    return call;
  }
  /// It is under way no more.
  void give_back(TimedCall& call);
  /// Waits for a credit of the request channel.
  void queue(TimedCall& call) { queued_.push_back(&call); }
  /// The oldest that waits. Pre: queued() != 0.
  [[nodiscard]] TimedCall& pop() {
    TimedCall& call = *queued_.front();
    queued_.pop_front();
    return call;
  }
  [[nodiscard]] std::size_t queued() const { return queued_.size(); }
  [[nodiscard]] bool none() const { return under_way_.empty(); }
  /// The call whose request `r` is; null: it is nobody's.
  [[nodiscard]] TimedCall* find(const Request& r) const;
  template <class F>
  void for_each_queued(F&& visit) const {
    for (const TimedCall* call : queued_) visit(*call);
  }

 private:
  std::deque<TimedCall> all_;
  std::vector<TimedCall*> free_, under_way_;
  std::deque<TimedCall*> queued_;
};

}  // namespace warpline
