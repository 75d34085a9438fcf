#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "warpline/base/contract.h"
#include "warpline/base/problem.h"
#include "warpline/base/types.h"
#include "warpline/fabric/arrivals.h"
#include "warpline/fabric/engine.h"
#include "warpline/fabric/loose.h"

namespace warpline {

/// Parameters of one direction of a hop.
struct ChannelParameters {
  unsigned width = 32;          ///< bytes per beat
  unsigned latency = 1;         ///< edges of the sender from the last beat to the first possible pop
  unsigned depth = 4;           ///< credits: messages sent and not yet popped
  unsigned credit_latency = 1;  ///< cycles from a pop until its credit is back

  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("width", width, "bytes per beat");
    f("latency", latency, "edges of the sender from the last beat to the first possible pop");
    f("depth", depth, "messages sent and not yet popped");
    f("credit_latency", credit_latency, "cycles from a pop until its credit is back");
  }
};

/// Both directions of a hop.
struct HopParameters {
  ChannelParameters request;
  ChannelParameters response;
  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("request", request, "towards memory");
    f("response", response, "towards the SM");
  }
};

/// A message on a channel, begun and not yet popped, as an observer sees it.
struct QueuedMessage {
  Cycle begun = 0;                   ///< its first beat; of a sender that is no block, its next clock edge
  Cycle wire_free = 0;               ///< the cycle after its last beat
  Cycle arrives = 0;                 ///< when it can be popped: later than every message before it
  const Request* request = nullptr;  ///< that it carries; null if it carries something else
};

/// What the engine needs of a port: whether a message is on it, and whether its channel is fit.
class PortBase {
 public:
  PortBase(Component& owner, std::string name);
  PortBase(const PortBase&) = delete;
  PortBase& operator=(const PortBase&) = delete;
  virtual ~PortBase() = default;
  [[nodiscard]] virtual std::size_t occupancy() const = 0;
  /// Cycles that pass before what one of the port's two components does can reach the other through
  /// this channel; kNever if both are of one cluster or another port answers for the channel.
  [[nodiscard]] virtual Cycle lookahead() const = 0;
  /// Whether messages lie in it until the owner takes them.
  [[nodiscard]] virtual bool receives() const = 0;
  /// Lists the requests that lie in the port.
  virtual void in_flight(std::vector<InFlight>& rows) const = 0;
  /// Who is at the other end of the channel: the component's name; where that is foreign, its module's, or
  /// the socket's that it is bound to. Empty if nobody is.
  [[nodiscard]] virtual std::string other_side() const = 0;
  /// "room on sm[0].to_l1_lg": what waits to be sent here waits for.
  [[nodiscard]] std::string room() const { return "room on " + path(); }
  /// A sentence on why the channel cannot work as it should, or nothing.
  [[nodiscard]] virtual std::string problem() const { return {}; }
  /// Of a receiving port, the parameters of the channel that ends in it; null for a sending one.
  [[nodiscard]] virtual const ChannelParameters* channel() const { return nullptr; }
  /// The i-th message on the channel, oldest first. Pre: i < occupancy().
  [[nodiscard]] virtual QueuedMessage queued(std::size_t i) const;
  /// "l2[3].from_crossbar"
  [[nodiscard]] std::string path() const { return owner_.name() + "." + *name_; }
  [[nodiscard]] Component& owner() const { return owner_; }

 protected:
  Component& owner_;

 private:
  std::unique_ptr<const std::string> name_;  ///< apart: ports are packed for the host's caches
};

/// Brings the two facts of a channel across a hop: begin forward, end backward. `Direct` below
/// is the carrier of plain C++ netlists; others carry the same facts over sockets or pins.
template <class M>
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// A message of one or more beats starts in cycle t. Returns the cycle in which the channel can
  /// take a next message if that is known already, else kNever; then end() follows.
  virtual Cycle begin(Cycle t, const M& message) = 0;
  /// Messages that have begun and that no receiving port counts yet.
  [[nodiscard]] virtual std::size_t occupancy() const { return 0; }
  /// Carries a loosely timed access: sent in cycle `at`, and on return answered in cycle `at`.
  /// Only where the netlist's owner knows that this carrier can; pins cannot.
  virtual void perform(const M& /*message*/, Cycle& /*at*/) {
    WARPLINE_EXPECT(false, "a loosely timed access crosses hops that are direct or sockets");
  }
  /// Cycles that pass before what one side does can reach the other; see PortBase::lookahead.
  [[nodiscard]] virtual Cycle lookahead() const { return 1; }
  /// See PortBase::other_side.
  [[nodiscard]] virtual std::string other_side() const { return {}; }
};

/// Whoever put a carrier's messages into a receiving port, and waits to hear when it may put the next.
class Upstream {
 public:
  virtual ~Upstream() = default;
  /// The channel can take a next message from cycle c on.
  virtual void end(Cycle c) = 0;
  /// As Carrier::lookahead.
  [[nodiscard]] virtual Cycle lookahead() const { return 1; }
  /// See PortBase::other_side.
  [[nodiscard]] virtual std::string other_side() const { return {}; }
};

/// The request that a message carries; null for messages that carry something else.
template <class M>
auto request_of(const M& message, int) -> decltype(static_cast<const Request*>(message.request)) {
  return message.request;
}
template <class M>
const Request* request_of(const M&, long) {
  return nullptr;
}

template <class M>
class In;

/// What a sending port is bound to: one of the two.
template <class M>
struct Binding {
  In<M>* direct = nullptr;
  Carrier<M>* carrier = nullptr;

  /// Has the other side perform `message`, loosely timed (see LooseTarget): sent in cycle `at`, and on
  /// return answered in cycle `at`.
  void perform(const M& message, Cycle& at) const {
    direct != nullptr ? direct->perform(message, at) : carrier->perform(message, at);
  }
};

/// The sending port of a channel. It knows only when the channel is free.
template <class M>
class alignas(64) Out final : public PortBase {
 public:
  using PortBase::PortBase;

  /// Whether a message may be sent in cycle `now`. If not, the owner is woken when it may.
  [[nodiscard]] bool ready(Cycle now) {
    if (free_at_ <= now) return true;
    if (free_at_ != kNever) {
      owner_.wake(free_at_);
    } else {
      armed_ = true;
    }
    return false;
  }
  /// Sends. Pre: ready(now).
  void send(Cycle now, const M& message) {
    WARPLINE_EXPECT(free_at_ <= now, "a message is sent on a free channel");
    free_at_ = binding_.direct != nullptr ? binding_.direct->begin(now, message)
                                          : binding_.carrier->begin(now, message);
  }
  /// The channel is free from cycle c on.
  void end(Cycle c) {
    free_at_ = c;
    if (armed_) {
      armed_ = false;
      owner_.wake(c);
    }
  }
  [[nodiscard]] bool bound() const { return binding_.direct != nullptr || binding_.carrier != nullptr; }
  [[nodiscard]] const Binding<M>& binding() const { return binding_; }
  /// Sends as `binding` says from now on, and returns how it was. Pre: bound; no message is under way.
  Binding<M> rebind(const Binding<M>& binding) {
    owner_.engine().note_binding();
    return std::exchange(binding_, binding);
  }
  /// Binds it by a carrier that lives as long. Pre: not bound.
  void bind(Carrier<M>& carrier) {
    WARPLINE_EXPECT(!bound(), "a port is bound once");
    binding_.carrier = &carrier;
    owner_.engine().note_binding();
  }
  [[nodiscard]] std::size_t occupancy() const override {
    return binding_.carrier != nullptr ? binding_.carrier->occupancy() : 0;
  }
  [[nodiscard]] Cycle lookahead() const override {
    return binding_.carrier != nullptr ? binding_.carrier->lookahead() : kNever;
  }
  [[nodiscard]] bool receives() const override { return false; }
  void in_flight(std::vector<InFlight>& /*rows*/) const override {}  // a carrier lists what it has
  [[nodiscard]] std::string other_side() const override;
  [[nodiscard]] std::string problem() const override {
    return bound() ? std::string{} : path() + ": not bound";
  }

 private:
  template <class N>
  friend void connect(Out<N>& from, In<N>& to, const ChannelParameters& parameters);
  Binding<M> binding_;
  Cycle free_at_ = 0;
  bool armed_ = false;
};

/// The receiving port. It owns the queue, the credits, the width and the latency.
template <class M>
class alignas(64) In final : public PortBase {
 public:
  using PortBase::PortBase;

  /// Whether a message can be popped in cycle `now`. If one is on its way, the owner is woken
  /// when it arrives.
  [[nodiscard]] bool ready(Cycle now) const { return count_ != 0 && slots_[head_].at <= now; }
  /// Pre: ready(now).
  [[nodiscard]] const M& front() const { return slots_[head_].message; }
  /// Takes the front message and returns its credit. Pre: ready(now).
  M pop(Cycle now) {
    WARPLINE_EXPECT(ready(now), "a message that has arrived is popped");
    Slot& slot = slots_[head_];
    const M message = slot.message;
    owner_.engine().note_move(now);
    slot.at = now + parameters_.credit_latency;
    const Cycle credit = slot.at;
    const bool was_full = count_ == parameters_.depth;
    --count_;
    head_ = advance(head_);
    if (count_ != 0) {
      const Cycle next = std::max(now + 1, slots_[head_].at);
      owner_.wake(next);
      if (arrivals_ != nullptr) arrivals_->expect(arrivals_port_, next);
    }
    // Last: whoever hears it may begin the next message at once.
    if (was_full) tell_end(std::max(wire_free_, credit));
    return message;
  }
  /// A message starts in cycle t: called by the carrier. Returns as Carrier::begin does.
  Cycle begin(Cycle t, const M& message) {
    WARPLINE_EXPECT(count_ < parameters_.depth, "a message has a credit");
    const unsigned n = message.beats(parameters_.width);
    Slot& slot = slots_[tail_];
    slot.message = message;
    if (sender_domain_.is_fastest()) {
      slot.at = t + n - 1 + parameters_.latency;
      wire_free_ = t + n;
    } else {
      const std::uint64_t edge = sender_domain_.edge_at_or_after(t);
      slot.at = sender_domain_.cycle_of(edge + n - 1 + parameters_.latency);
      wire_free_ = sender_domain_.cycle_of(edge + n);
    }
    owner_.wake(slot.at);
    if (count_ == 0 && arrivals_ != nullptr) arrivals_->expect(arrivals_port_, slot.at);
    tail_ = advance(tail_);
    ++count_;
    // The next message takes the slot after this one; its credit came back with that slot's pop.
    if (count_ == parameters_.depth) return kNever;
    return std::max(wire_free_, slots_[tail_].at);
  }
  /// Has a carrier bring the messages of a sender with clock `sender`. Pre: not bound; the parameters
  /// have no problems.
  void bind(Upstream& upstream, const ChannelParameters& parameters, const ClockDomain& sender) {
    WARPLINE_EXPECT(!bound(), "a port is bound once");
    upstream_ = &upstream;
    prepare(parameters, sender);
  }
  [[nodiscard]] bool bound() const { return sender_ != nullptr || upstream_ != nullptr; }
  /// Who puts messages in: one of the two.
  struct Source {
    Out<M>* sender = nullptr;
    Upstream* upstream = nullptr;
  };
  /// Takes messages from `source` from now on, and returns from whom it took them. Pre: bound; no
  /// message is under way.
  Source rebind(const Source& source) {
    const Source before{sender_, upstream_};
    sender_ = source.sender;
    upstream_ = source.upstream;
    owner_.engine().note_binding();
    return before;
  }
  /// Has `arrivals` announce every front message of this port, as number `port`. Pre: no message
  /// was sent yet; `arrivals` belongs to the owner, which collects first thing in every tick.
  void attach(Arrivals& arrivals, unsigned port) {
    WARPLINE_EXPECT(count_ == 0, "a port is attached before it is used");
    arrivals_ = &arrivals;
    arrivals_port_ = port;
  }
  /// Who performs loosely timed accesses that arrive here. Pre: it lives as long as the port.
  void perform_by(LooseTarget& target) { loose_ = &target; }
  [[nodiscard]] bool performs() const { return loose_ != nullptr; }
  /// Has the port's owner perform a request sent in cycle `at`; on return its answer is sent in
  /// cycle `at`. Pre: bound; somebody performs.
  void perform(const M& message, Cycle& at) {
    at = owner_.domain().align(arrival_of(at, message));
    loose_->perform(*message.request, at);
  }
  /// When a message sent in cycle `t` over an idle channel can be popped. Pre: bound.
  [[nodiscard]] Cycle arrival_of(Cycle t, const M& message) const {
    const unsigned edges = message.beats(parameters_.width) - 1 + parameters_.latency;
    if (sender_domain_.is_fastest()) return t + edges;
    return sender_domain_.cycle_of(sender_domain_.edge_at_or_after(t) + edges);
  }
  /// When the message begun last can be popped. Pre: one was begun and is not popped.
  [[nodiscard]] Cycle newest_arrival() const {
    return slots_[tail_ == 0 ? parameters_.depth - 1 : tail_ - 1].at;
  }
  [[nodiscard]] const ChannelParameters& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t occupancy() const override { return count_; }
  [[nodiscard]] const ChannelParameters* channel() const override { return &parameters_; }
  [[nodiscard]] QueuedMessage queued(std::size_t i) const override {
    WARPLINE_EXPECT(i < count_, "a message that is queued is asked for");
    const Slot& slot = slots_[(head_ + i) % parameters_.depth];
    const unsigned n = slot.message.beats(parameters_.width);
    const std::uint64_t edge = sender_domain_.edge_at_or_after(slot.at) - parameters_.latency - (n - 1);
    return {sender_domain_.cycle_of(edge), sender_domain_.cycle_of(edge + n), slot.at,
            request_of(slot.message, 0)};
  }
  [[nodiscard]] bool receives() const override { return true; }
  void in_flight(std::vector<InFlight>& rows) const override;
  [[nodiscard]] std::string other_side() const override {
    if (upstream_ != nullptr) return upstream_->other_side();
    return sender_ != nullptr ? sender_->owner().name() : std::string{};
  }
  [[nodiscard]] Cycle lookahead() const override {
    if (upstream_ != nullptr) return upstream_->lookahead();
    if (sender_ == nullptr || &sender_->owner().cluster() == &owner_.cluster()) return kNever;
    return std::min<Cycle>(sender_domain_.cycles_in(parameters_.latency), parameters_.credit_latency);
  }
  /// A channel fills its wire with one-beat messages only if depth >= latency + credit latency.
  [[nodiscard]] std::string problem() const override {
    if (!bound()) return path() + ": not bound";
    if (parameters_.depth < parameters_.latency + parameters_.credit_latency)
      return path() + ": depth " + std::to_string(parameters_.depth) + " cannot fill its wire; latency " +
             std::to_string(parameters_.latency) + " and credit latency " +
             std::to_string(parameters_.credit_latency) + " need " +
             std::to_string(parameters_.latency + parameters_.credit_latency);
    return {};
  }

 private:
  template <class N>
  friend void connect(Out<N>& from, In<N>& to, const ChannelParameters& parameters);
  struct Slot {
    Cycle at = 0;  ///< while queued: when it can be popped; afterwards: when its credit is back
    M message{};
  };
  void prepare(const ChannelParameters& parameters, const ClockDomain& sender) {
    WARPLINE_EXPECT(parameters.problems("").empty(), "channel parameters are checked before they are used");
    parameters_ = parameters;
    sender_domain_ = sender;
    slots_ = std::make_unique<Slot[]>(parameters.depth);
    owner_.engine().note_binding();
  }
  void tell_end(Cycle c) {
    if (sender_ != nullptr) {
      sender_->end(c);
    } else {
      upstream_->end(c);
    }
  }
  [[nodiscard]] unsigned advance(unsigned i) const { return i + 1 == parameters_.depth ? 0 : i + 1; }

  // What ready(), front() and pop() read comes first, in the first cache line.
  std::unique_ptr<Slot[]> slots_;  ///< a ring of `depth`
  unsigned head_ = 0, tail_ = 0, count_ = 0;
  ChannelParameters parameters_;
  Arrivals* arrivals_ = nullptr;
  unsigned arrivals_port_ = 0;
  Cycle wire_free_ = 0;
  Out<M>* sender_ = nullptr;
  Upstream* upstream_ = nullptr;  ///< where there is no sender_
  ClockDomain sender_domain_;
  LooseTarget* loose_ = nullptr;
};

template <class M>
std::string Out<M>::other_side() const {
  if (binding_.carrier != nullptr) return binding_.carrier->other_side();
  return binding_.direct != nullptr ? binding_.direct->owner().name() : std::string{};
}

template <class M>
void In<M>::in_flight(std::vector<InFlight>& rows) const {
  unsigned slot = head_;
  for (unsigned i = 0; i < count_; ++i, slot = advance(slot)) {
    const Request* r = request_of(slots_[slot].message, 0);
    if (r == nullptr) return;
    const bool arrived = slots_[slot].at <= owner_.engine().now();
    const std::string why = !arrived ? "cycle " + std::to_string(slots_[slot].at) + ", to arrive"
                            : i == 0 ? owner_.name() + " to take it"
                                     : owner_.name() + " to take the " + std::to_string(i) + " before it";
    rows.emplace_back(*r, owner_.name(), path(), why);
    rows.back().wait.who = path();
    if (arrived) rows.back().wait.on = {owner_.name()};
  }
}

/// Binds two ports by the direct carrier. Pre: neither is bound, the parameters have no problems.
template <class M>
void connect(Out<M>& from, In<M>& to, const ChannelParameters& parameters) {
  WARPLINE_EXPECT(!from.bound() && !to.bound(), "a port is bound once");
  from.binding_.direct = &to;
  to.sender_ = &from;
  to.prepare(parameters, from.owner().domain());
}

/// Has what lies behind `out` perform `r`, sent in cycle `at`, loosely timed. Returns the cycle in which
/// the owner of the two ports has the answer.
inline Cycle perform_through(Out<RequestMessage>& out, In<ResponseMessage>& in, Request& r, Cycle at) {
  out.binding().perform({&r}, at);
  return in.owner().domain().align(in.arrival_of(at, {&r}));
}

}  // namespace warpline
