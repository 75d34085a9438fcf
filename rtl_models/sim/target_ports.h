#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/sim/arbiter.h"
#include "rtl_models/sim/arrivals.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// The ports of a target that several initiators share: requests come in by a round robin over
/// the ports, answers queue per port until its channel takes them.
class TargetPorts {
 public:
  static constexpr unsigned kNone = Arbiter::kNone;

  /// Ports `from[i]` and `to[i]` of `owner`, i < count; plain `from` and `to` if count is 1.
  TargetPorts(Component& owner, const std::string& from, const std::string& to, unsigned count);

  /// Who performs loosely timed accesses by any of the ports.
  void perform_by(LooseTarget& target) {
    for (const auto& in : ins_) in->perform_by(target);
  }
  [[nodiscard]] In<RequestMessage>& in(unsigned port) { return *ins_[port]; }
  [[nodiscard]] Out<ResponseMessage>& out(unsigned port) { return *outs_[port]; }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(ins_.size()); }

  /// Notes what has arrived. Called once, first thing, in every tick.
  void collect(Cycle now) {
    arrivals_.collect(now, [this](unsigned port) { requests_.ask(0, port); });
  }
  /// Whether a request can be taken.
  [[nodiscard]] bool pending() const { return requests_.asking(0) != 0; }
  /// The port whose turn it is among those whose request `fits`, or kNone.
  template <class F>
  [[nodiscard]] unsigned choose(F&& fits) const {
    return requests_.choose(0, [&](unsigned port) { return fits(*ins_[port]->front().request); });
  }
  /// Pops the request of `port`, and passes the turn on. Pre: `port` was chosen in this tick.
  Request* take(Cycle now, unsigned port) {
    requests_.grant(0, port);
    return ins_[port]->pop(now).request;
  }
  void draw_turns(Random& random) { requests_.draw_turns(random); }
  /// Queues the answer to a request that came by `port`.
  void answer(unsigned port, Request* request) {
    if (answers_[port].empty()) replies_.ask(port, 0);
    answers_[port].push(request);
    ++unsent_;
  }
  /// Sends the answer to a request that came by `port`, or queues it where its channel is not free or others
  /// wait for that.
  void answer_now(Cycle now, unsigned port, Request* request) {
    if (answers_[port].empty() && outs_[port]->ready(now)) {
      outs_[port]->send(now, ResponseMessage{request});
    } else {
      answer(port, request);
    }
  }
  /// Sends queued answers, one per port whose channel is free; the others wake the owner.
  void send_answers(Cycle now) {
    if (unsent_ != 0) send_queued_answers(now);
  }
  /// The turns are as at first. Pre: no request waits, and no answer.
  void restart() {
    requests_.restart();
    replies_.restart();
  }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: no request waits, and no answer.
    a(requests_, replies_);
  }
  /// Answers queued and not yet sent.
  [[nodiscard]] unsigned unsent() const { return unsent_; }
  /// Says which answers wait for their channel, and lists them.
  void explain(std::vector<Wait>& waits) const;
  void in_flight(std::vector<InFlight>& rows) const;

 private:
  void send_queued_answers(Cycle now);
  std::vector<std::unique_ptr<In<RequestMessage>>> ins_;
  std::vector<std::unique_ptr<Out<ResponseMessage>>> outs_;
  Arrivals arrivals_;
  Arbiter requests_;
  Arbiter replies_;  ///< an output per port, asked for while answers are queued
  std::vector<RequestList> answers_;
  unsigned unsent_ = 0;
};

}  // namespace warpline
