#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/equivalence/end_rule.h"
#include "tests/equivalence/hop_maker.h"
#include "tests/equivalence/passage.h"

namespace warpline::test {

/// Makes hops that are carried as they should be, with a probe on each that notes down every beat, arrival,
/// pop and END. By another rule than end_rules::faithful the ENDs are passed on wrongly, and noted down as
/// passed on.
class WatchedHops final : public HopMaker {
 public:
  explicit WatchedHops(EndRule rule = end_rules::faithful) : rule_(rule) {}

  void hop(Out<RequestMessage>& request_out, In<RequestMessage>& request_in, const ChannelParameters& request,
           Out<ResponseMessage>& response_out, In<ResponseMessage>& response_in,
           const ChannelParameters& response) override {
    down_.push_back(std::make_unique<Probe<RequestMessage>>(request_out, request_in, request, rule_));
    up_.push_back(std::make_unique<Probe<ResponseMessage>>(response_out, response_in, response, rule_));
  }

  /// Runs `engine`, which has these hops, as Engine::run_until does, and sees from the queues what was
  /// popped.
  RunOutcome run(Engine& engine, Cycle limit) {
    for (;;) {
      const Cycle next = engine.next_tick();
      const Cycle until = std::min(next == kNever ? engine.now() : next, limit);
      const RunOutcome outcome = engine.run_until(until);
      for (std::size_t i = 0; i < down_.size(); ++i) {
        down_[i]->note_pops(until);
        up_[i]->note_pops(until);
      }
      if (outcome != RunOutcome::cycle_limit || until == limit) return outcome;
    }
  }
  /// A line for every message on every hop, as NaiveMesh has them.
  [[nodiscard]] std::vector<std::string> trace() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < down_.size(); ++i) {
      describe("hop " + std::to_string(i) + " down", down_[i]->log(), lines);
      describe("hop " + std::to_string(i) + " up", up_[i]->log(), lines);
    }
    return lines;
  }

 private:
  template <class M>
  class Probe final : public Carrier<M>, public Upstream {
   public:
    Probe(Out<M>& out, In<M>& in, const ChannelParameters& parameters, EndRule rule)
        : out_(out), in_(in), width_(parameters.width), rule_(rule) {
      out.bind(static_cast<Carrier<M>&>(*this));
      in.bind(static_cast<Upstream&>(*this), parameters, sender_clock());
    }
    Cycle begin(Cycle t, const M& message) override {
      Passage& p = log_.emplace_back();
      p.id = message.request->id;
      const unsigned n = message.beats(width_);
      for (unsigned i = 0; i < n; ++i) p.beats.push_back(sender_clock().after(t, i));
      wire_free_ = sender_clock().after(t, n);
      const Cycle free = in_.begin(t, message);
      p.arrived = in_.newest_arrival();
      return free == kNever ? kNever : heard(t, free);
    }
    void end(Cycle c) override { out_.end(heard(out_.owner().engine().now(), c)); }
    void note_pops(Cycle c) {
      for (; popped_ < log_.size() - in_.occupancy(); ++popped_) log_[popped_].popped = c;
    }
    [[nodiscard]] const ChannelLog& log() const { return log_; }

   private:
    [[nodiscard]] const ClockDomain& sender_clock() const { return out_.owner().domain(); }
    Cycle heard(Cycle now, Cycle free) {
      return log_.back().end = rule_({now, wire_free_, free, sender_clock(), in_.owner().domain()});
    }
    Out<M>& out_;
    In<M>& in_;
    unsigned width_;
    EndRule rule_;
    Cycle wire_free_ = 0;
    ChannelLog log_;
    std::size_t popped_ = 0;
  };

  EndRule rule_;
  std::vector<std::unique_ptr<Probe<RequestMessage>>> down_;
  std::vector<std::unique_ptr<Probe<ResponseMessage>>> up_;
};

}  // namespace warpline::test
