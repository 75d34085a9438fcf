#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sim/arrivals.h"
#include "rtl_models/sim/carrier.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/sim/loose_target.h"
#include "rtl_models/sim/request_ferry.h"
#include "rtl_models/sim/sending_port.h"

namespace warpline {

/// The request that a message carries; null for messages that carry something else.
template <class M>
auto request_of(const M& message, int) -> decltype(static_cast<const Request*>(message.request)) {
  return message.request;
}
template <class M>
const Request* request_of(const M&, long) {
  return nullptr;
}

/// Messages that can go to another rank.
template <class M>
inline constexpr bool kFerried = std::is_same_v<M, RequestMessage> || std::is_same_v<M, ResponseMessage>;

/// Says of each message that begins whether it stays in its queue until In::let_go(): as if other traffic
/// kept the queue full for so long.
template <class M>
class Gate {
 public:
  virtual ~Gate() = default;
  [[nodiscard]] virtual bool holds(const M& message) const = 0;
};

/// The receiving port. It owns the queue, the credits, the width and the latency.
template <class M>
class alignas(64) In final : public PortBase {
 public:
  using PortBase::PortBase;

  /// Whether a message can be popped in cycle `now`. Asking has no effect: the owner is woken when a message
  /// arrives, and after a pop for the next one, whether it has asked or not.
  [[nodiscard]] bool ready(Cycle now) const { return front_at_ <= now; }
  /// Pre: ready(now).
  [[nodiscard]] const M& front() const { return slots_[head_].message; }
  /// The oldest message on the channel, whether it has arrived or not; null: there is none.
  [[nodiscard]] const M* oldest() const { return count_ != 0 ? &slots_[head_].message : nullptr; }
  /// Takes the front message and returns its credit. Pre: ready(now).
  M pop(Cycle now) {
    WARPLINE_EXPECT(ready(now), "a message that has arrived is popped");
    Slot& slot = slots_[head_];
    const M message = slot.message;
    owner_.note_move(now);
    slot.at = now + credit_latency_;
    const bool tells = count_ >= tells_from_;
    head_ = advance(head_);
    front_at_ = --count_ != 0 ? slots_[head_].at : kNever;
    if (announces_) announce_pop(now);
    return tells || front_at_ <= now ? pass_on_pop(now, message, tells) : message;
  }
  /// A message starts in cycle t: called by the carrier. Returns as Carrier::begin does.
  Cycle begin(Cycle t, const M& message) {
    if (is_special_) return begin_specially(t, message);
    Cycle at = 0;
    const Cycle free = begin_plainly(t, message, at);
    owner_.wake(at);
    return free;
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
  /// Keeps `bit` of `ports` set while a message is on the channel, so that an owner with many ports looks at
  /// one word instead of at all of them. Pre: nothing is on the channel; `ports` lives as long.
  void mark_in(std::uint64_t& ports, unsigned bit) {
    WARPLINE_EXPECT(count_ == 0 && bit < 64, "a port is marked before it is used");
    marked_in_ = &ports;
    announces_ = true;
    mark_ = static_cast<std::uint8_t>(bit);
  }
  /// Has `arrivals` announce every front message of this port, as number `port`. Pre: no message
  /// was sent yet; `arrivals` belongs to the owner, which collects first thing in every tick.
  void attach(Arrivals& arrivals, unsigned port) {
    WARPLINE_EXPECT(count_ == 0, "a port is attached before it is used");
    arrivals_ = &arrivals;
    announces_ = true;
    arrivals_port_ = port;
  }
  /// Asks `gate` of every message from now on; null: of none. Pre: nothing is on the channel, it joins two
  /// components, nobody collects its arrivals.
  void set_gate(const Gate<M>* gate) {
    WARPLINE_EXPECT(count_ == 0 && arrivals_ == nullptr && upstream_ == nullptr, "a gate finds no message");
    gate_ = gate;
    find_special();
  }
  /// Lets the messages go that were held and would not be any more: they can be popped from cycle `at` on.
  void let_go(Cycle at) {
    for (unsigned i = 0, n = head_; i < count_; ++i, n = advance(n))
      if (slots_[n].at == kNever && (gate_ == nullptr || !gate_->holds(slots_[n].message))) slots_[n].at = at;
    if (count_ != 0) front_at_ = slots_[head_].at;
    owner_.wake(at);
  }
  /// Who performs loosely timed accesses that arrive here. Pre: it lives as long as the port.
  void perform_by(LooseTarget& target) { loose_ = &target; }
  [[nodiscard]] bool performs() const { return loose_ != nullptr; }
  /// Has the port's owner perform a request sent in cycle `at`; on return its answer is sent in
  /// cycle `at`. Pre: bound; a LooseTarget performs.
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
  [[nodiscard]] bool is_direct() const override { return upstream_ == nullptr; }
  void part(bool side_by_side) override {
    crosses_ = crosses_ranks();
    parted_ =
        crosses_ || (side_by_side && sender_ != nullptr && &sender_->owner().cluster() != &owner_.cluster());
    find_special();
    tells_from_ = parted_ ? 0 : parameters_.depth;
    held_ = count_;
  }
  void hand_over_begun() override { take_begun(std::exchange(begun_, 0)); }
  void hand_over_popped() override { give_back(std::exchange(popped_, 0)); }
  [[nodiscard]] bool crosses_ranks() const override {
    return sender_ != nullptr && sender_->owner().cluster().rank != owner_.cluster().rank;
  }
  Cycle ship_begun(std::string& to, RequestFerry& ferry) override;
  Cycle ship_popped(std::string& to) override;
  void land_begun(std::string_view& from, RequestFerry& ferry, unsigned rank) override;
  void land_popped(std::string_view& from) override;
  [[nodiscard]] bool receives() const override { return true; }
  void set_residence(unsigned edges) override {
    WARPLINE_EXPECT(count_ == 0, "a queue changes when nothing is in it");
    parameters_.latency = latency_ + edges;
  }
  void archive(StateArchive& a) override;
  /// From when on the next message may begin. Pre: no message is on the channel.
  [[nodiscard]] Cycle free_from() const { return std::max(wire_free_, slots_[tail_].at); }
  void in_flight(std::vector<InFlight>& rows) const override;
  [[nodiscard]] std::string other_side() const override {
    if (upstream_ != nullptr) return upstream_->other_side();
    return sender_ != nullptr ? sender_->owner().name() : std::string{};
  }
  [[nodiscard]] Cycle lookahead() const override {
    if (leads_outside()) return 1;
    const Component* from = sender();
    if (from == nullptr || &from->cluster() == &owner_.cluster()) return kNever;
    return std::min<Cycle>(sender_domain_.cycles_in(latency_), parameters_.credit_latency);
  }
  [[nodiscard]] bool leads_outside() const override { return upstream_ != nullptr && sender() == nullptr; }
  /// A channel fills its wire with one-beat messages only if depth >= latency + credit latency.
  [[nodiscard]] std::string problem() const override {
    if (!bound()) return path() + ": not bound";
    if (parameters_.depth < latency_ + parameters_.credit_latency)
      return path() + ": depth " + std::to_string(parameters_.depth) + " cannot fill its wire; latency " +
             std::to_string(latency_) + " and credit latency " + std::to_string(parameters_.credit_latency) +
             " need " + std::to_string(latency_ + parameters_.credit_latency);
    return {};
  }

 private:
  template <class N>
  friend void connect(Out<N>& from, In<N>& to, const ChannelParameters& parameters);
  friend class Out<M>;
  struct Slot {
    Cycle at = 0;  ///< while queued: when it can be popped; afterwards: when its credit is back
    M message{};
  };
  void prepare(const ChannelParameters& parameters, const ClockDomain& sender) {
    WARPLINE_EXPECT(parameters.problems("").empty(), "channel parameters are checked before they are used");
    parameters_ = parameters;
    depth_ = parameters.depth;
    credit_latency_ = parameters.credit_latency;
    latency_ = parameters.latency;
    sender_domain_ = sender;
    slots_ = std::make_unique<Slot[]>(parameters.depth);
    tells_from_ = parameters.depth;
    find_special();
    owner_.engine().note_binding();
  }
  void find_special() {
    is_special_ =
        parted_ || gate_ != nullptr || !sender_domain_.is_fastest() || !owner_.domain().is_fastest();
  }
  [[nodiscard]] const Component* sender() const {
    if (upstream_ != nullptr) return upstream_->sender();
    return sender_ != nullptr ? &sender_->owner() : nullptr;
  }
  void tell_end(Cycle c) {
    if (sender_ != nullptr) {
      sender_->end(c);
    } else {
      upstream_->end(c);
    }
  }
  [[nodiscard]] unsigned advance(unsigned i) const { return i + 1 == depth_ ? 0 : i + 1; }
  /// The slot that is n before slot `i`. Pre: n <= depth.
  [[nodiscard]] unsigned behind(unsigned i, unsigned n) const {
    return i >= n ? i - n : i + parameters_.depth - n;
  }
  /// A message begins in cycle `t`: what the sender's side keeps of it but for credits.
  [[gnu::always_inline]] Slot& put(Cycle t, const M& message) {
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
    // Not advance(), whose depth lies in the cache line that the receiver writes.
    tail_ = tail_ + 1 == parameters_.depth ? 0 : tail_ + 1;
    return slot;
  }
  /// The front message was popped: says so to whom the owner has told to keep account.
  void announce_pop(Cycle now) {
    if (count_ == 0) {
      if (marked_in_ != nullptr) *marked_in_ &= ~(std::uint64_t{1} << mark_);
    } else if (arrivals_ != nullptr) {
      arrivals_->expect(arrivals_port_, std::max(now + 1, front_at_));
    }
  }
  /// There is a front message, where there was none; it can be popped from cycle `at` on.
  void show_front(Cycle at) {
    front_at_ = at;
    if (!announces_) return;
    if (marked_in_ != nullptr) *marked_in_ |= std::uint64_t{1} << mark_;
    if (arrivals_ != nullptr) arrivals_->expect(arrivals_port_, at);
  }
  /// A message begins, and nothing about the channel is special: all but to ask for a tick in cycle `at`, in
  /// which it can be popped. It calls nobody, so that who sends keeps no registers for it.
  [[gnu::always_inline]] Cycle begin_plainly(Cycle t, const M& message, Cycle& at) {
    WARPLINE_EXPECT(count_ < depth_, "a message has a credit");
    const Cycle free = t + message.beats(parameters_.width);
    at = free - 1 + parameters_.latency;
    Slot& slot = slots_[tail_];
    slot.message = message;
    slot.at = at;
    wire_free_ = free;
    const unsigned tail = tail_ = advance(tail_);
    if (count_++ == 0) show_front(at);
    // The next message takes the slot after this one; its credit came back with that slot's pop.
    return count_ == depth_ ? kNever : std::max(free, slots_[tail].at);
  }
  [[gnu::noinline]] Cycle begin_specially(Cycle t, const M& message);
  [[gnu::noinline]] M pass_on_pop(Cycle now, M message, bool tells);
  void tell_credit(Cycle credit);
  void take_begun(unsigned n);
  void give_back(unsigned n);

  // What ready(), front() and pop() read comes first, in the first cache line; in a second is what a sender
  // in another cluster changes, and whom the owner has told to keep account; the rest is for what is special.
  std::unique_ptr<Slot[]> slots_;  ///< a ring of `depth`
  Cycle front_at_ = kNever;        ///< of the front message, when it can be popped; kNever: there is none
  unsigned head_ = 0, count_ = 0;
  unsigned tells_from_ =
      0;  ///< a pop with so many messages on the channel, or more, is told: `depth`; if parted, 0
  unsigned depth_ = 0, credit_latency_ = 0;  ///< of parameters_
  bool announces_ = false;                   ///< there is somebody who keeps account
  ChannelParameters parameters_;
  bool parted_ = false;      ///< see part()
  bool crosses_ = false;     ///< likewise, and what waits goes to another rank
  bool is_special_ = false;  ///< that, or there is a gate, or one side's clock is not the fastest
  std::uint8_t mark_ = 0;    ///< the number of its bit in marked_in_
  unsigned arrivals_port_ = 0;
  Cycle wire_free_ = 0;
  unsigned tail_ = 0;
  unsigned held_ = 0;   ///< of a parted channel: credits in use, as the sender knows it
  unsigned begun_ = 0;  ///< likewise: messages that the receiver does not know of
  Arrivals* arrivals_ = nullptr;
  std::uint64_t* marked_in_ = nullptr;
  unsigned popped_ = 0;   ///< of a parted channel: messages that the sender does not know to be popped
  unsigned latency_ = 0;  ///< of the channel as it was bound, without residence
  Out<M>* sender_ = nullptr;
  Upstream* upstream_ = nullptr;  ///< where there is no sender_
  LooseTarget* loose_ = nullptr;
  const Gate<M>* gate_ = nullptr;
  ClockDomain sender_domain_;
};

/// What seldom follows a pop: the next message has arrived, too, or the sender hears (`tells`) that there is
/// room. Returns the message that was popped.
template <class M>
M In<M>::pass_on_pop(Cycle now, M message, bool tells) {
  // One that is yet to arrive has asked for a tick when it began.
  if (front_at_ <= now) owner_.wake(now + 1);
  // Last: the sender may begin the next message from within this call.
  if (tells) tell_credit(now + parameters_.credit_latency);
  return message;
}

/// A message begins on a channel that is special.
template <class M>
Cycle In<M>::begin_specially(Cycle t, const M& message) {
  if (!parted_ && gate_ == nullptr) {
    WARPLINE_EXPECT(count_ < parameters_.depth, "a message has a credit");
    const Cycle at = put(t, message).at;
    if (count_++ == 0) show_front(at);
    owner_.wake(at);
    return count_ == parameters_.depth ? kNever : free_from();
  }
  if (!parted_) held_ = count_;
  WARPLINE_EXPECT(held_ < parameters_.depth, "a message has a credit");
  Slot& slot = put(t, message);
  if (gate_ != nullptr && gate_->holds(message)) slot.at = kNever;
  ++held_;
  if (!parted_ || !(crosses_ || owner_.engine().side_by_side())) {
    take_begun(1);
  } else if (begun_++ == 0) {
    sender_->owner().hand_begun_over(*this, owner_);
  }
  return held_ == parameters_.depth ? kNever : std::max(wire_free_, slots_[tail_].at);
}

/// A message was popped that leaves a full channel, or one that is parted: the next may begin when its credit
/// is back.
template <class M>
void In<M>::tell_credit(Cycle credit) {
  if (!parted_) {
    tell_end(std::max(wire_free_, credit));
  } else if (!crosses_ && !owner_.engine().side_by_side()) {
    give_back(1);
  } else if (popped_++ == 0) {
    owner_.hand_popped_over(*this, sender_->owner());
  }
}

/// The receiver hears of `n` messages that were begun.
template <class M>
void In<M>::take_begun(unsigned n) {
  for (; n != 0; --n) {
    const unsigned at = head_ + count_;
    const Slot& slot = slots_[at < parameters_.depth ? at : at - parameters_.depth];
    if (slot.at != kNever) owner_.wake(slot.at);
    if (count_ == 0) show_front(slot.at);
    ++count_;
  }
}

/// The sender hears of `n` credits that are back, or will be.
template <class M>
void In<M>::give_back(unsigned n) {
  const bool was_full = held_ == parameters_.depth;
  held_ -= n;
  if (was_full) tell_end(std::max(wire_free_, slots_[tail_].at));
}

template <class M>
Cycle In<M>::ship_begun(std::string& to, RequestFerry& ferry) {
  Cycle first = kNever;
  if constexpr (kFerried<M>) {
    const unsigned n = std::exchange(begun_, 0);
    put_value(to, n);
    for (unsigned i = 0, at = behind(tail_, n); i < n; ++i, at = advance(at)) {
      put_value(to, slots_[at].at);
      ferry.put(to, slots_[at].message, sender_->owner().pool());
      first = std::min(first, slots_[at].at);
    }
  } else {
    contract_violation(__FILE__, __LINE__, "kFerried<M>", "requests alone go from rank to rank");
  }
  return first;
}

template <class M>
void In<M>::land_begun(std::string_view& from, RequestFerry& ferry, unsigned rank) {
  if constexpr (kFerried<M>) {
    const auto n = take_value<unsigned>(from);
    if (n > parameters_.depth - count_) throw ExchangeError(path() + " is sent more than there are credits");
    for (unsigned i = 0; i < n; ++i, tail_ = advance(tail_)) {
      slots_[tail_].at = take_value<Cycle>(from);
      ferry.take(from, rank, slots_[tail_].message, owner_.pool());
    }
    take_begun(n);
  }
}

template <class M>
Cycle In<M>::ship_popped(std::string& to) {
  Cycle first = kNever;
  const unsigned n = std::exchange(popped_, 0);
  put_value(to, n);
  for (unsigned i = 0, at = behind(head_, n); i < n; ++i, at = advance(at)) {
    put_value(to, slots_[at].at);
    first = std::min(first, slots_[at].at);
  }
  return first;
}

template <class M>
void In<M>::land_popped(std::string_view& from) {
  const auto n = take_value<unsigned>(from);
  if (n > held_) throw ExchangeError(path() + " gives back more credits than were taken");
  for (unsigned i = 0; i < n; ++i, head_ = advance(head_)) slots_[head_].at = take_value<Cycle>(from);
  give_back(n);
}

template <class M>
void In<M>::archive(StateArchive& a) {
  WARPLINE_EXPECT(bound() && count_ == 0, "a port is saved and restored at rest");
  a(wire_free_, parameters_.latency);
  a.same(parameters_.depth, "credits");
  // Where in the ring the next message lies is nobody's affair.
  for (unsigned i = 0, n = tail_; i < parameters_.depth; ++i, n = advance(n)) a(slots_[n].at);
  if (!a.saves() && sender_ != nullptr) sender_->end(free_from());
}

template <class M>
void In<M>::in_flight(std::vector<InFlight>& rows) const {
  unsigned slot = head_;
  for (unsigned i = 0; i < count_; ++i, slot = advance(slot)) {
    const Request* r = request_of(slots_[slot].message, 0);
    if (r == nullptr) return;
    const bool arrived = slots_[slot].at <= owner_.engine().now();
    const std::string why = slots_[slot].at == kNever ? "a hold to end"
                            : !arrived ? "cycle " + std::to_string(slots_[slot].at) + ", to arrive"
                            : i == 0   ? owner_.name() + " to take it"
                                       : owner_.name() + " to take the " + std::to_string(i) + " before it";
    rows.emplace_back(*r, owner_.name(), path(), why);
    rows.back().wait.who = path();
    if (arrived) rows.back().wait.on = {owner_.name()};
  }
}

}  // namespace warpline
