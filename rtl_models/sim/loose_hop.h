#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "rtl_models/sim/channel.h"
#include "rtl_models/sim/vidmem_access.h"

namespace warpline {

/// Takes the place of the hop of an active block, one that sends requests of its own accord, while
/// the netlist is loosely timed: a request is performed in the tick in which it is sent, and its
/// answer comes when the time that it took is over. What lies behind the hop is not ticked.
///
/// Sends as it comes, one request after the other on the wire, without credits; answers go into the
/// response port as that has room, those that are due earlier first.
class LooseHop final : public Component, private Carrier<RequestMessage>, private Upstream {
 public:
  /// For the hop of these two ports, which outlive it. It is made in their owner's cluster. `in_step`: what
  /// lies behind the hop is itself active, so that nobody may run ahead of it.
  LooseHop(Out<RequestMessage>& out, In<ResponseMessage>& in, bool in_step = false);

  /// Takes the hop over, or hands it back. Pre: the ports are bound; quiescent.
  void set_loose(bool loose);
  /// Requests that `vidmem` takes are performed by it, past what lies behind the hop; null: none are. Pre:
  /// quiescent.
  void go_past(VidmemAccess* vidmem) { vidmem_ = vidmem; }

  Cycle tick(Cycle now) override;
  [[nodiscard]] bool busy() const override { return !due_.empty(); }
  void explain(std::vector<Wait>& waits) const override;
  void in_flight(std::vector<InFlight>& rows) const override;

 private:
  struct Answer {
    Cycle at = 0;
    std::uint64_t order = 0;
    Request* request = nullptr;
    bool operator>(const Answer& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  Cycle begin(Cycle t, const RequestMessage& message) override;
  void perform(const RequestMessage& message, Cycle& at) override;
  void end(Cycle c) override {
    in_free_ = c;
    if (!due_.empty()) wake(c);
  }
  [[nodiscard]] std::string other_side() const override { return name(); }
  /// Nobody known: then the engine keeps the sender in step with all others.
  [[nodiscard]] const Component* receiver() const override { return in_step_ ? nullptr : this; }
  [[nodiscard]] const Component* sender() const override { return this; }

  Out<RequestMessage>& out_;
  In<ResponseMessage>& in_;
  bool in_step_;
  bool loose_ = false;
  VidmemAccess* vidmem_ = nullptr;
  Binding<RequestMessage> binding_;     ///< of the hop that it stands in for
  In<ResponseMessage>::Source source_;  ///< where the answers of that hop came from
  std::priority_queue<Answer, std::vector<Answer>, std::greater<>> due_;
  std::uint64_t order_ = 0;
  Cycle in_free_ = 0;  ///< when in_ can take an answer; kNever: end() will tell
};

}  // namespace warpline
