#pragma once

#include <deque>
#include <vector>

#include "rtl_models/sim/arbiter.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

/// Requests that rest in a crossbar for a while that is drawn: a queue for each client, slice and proxy
/// (surface, and all others). So requests of one client to different slices or of different proxies pass
/// each other, and those of one proxy to one slice stay in order.
class RestingRequests {
 public:
  RestingRequests(unsigned clients, unsigned slices) : slices_(slices), of_client_(clients, 0) {}

  /// Draws how long each queue keeps what enters it. Nothing rests before the first time.
  void draw(Random& random);
  [[nodiscard]] bool drawn() const { return !queues_.empty(); }
  [[nodiscard]] bool empty() const { return filled_.empty(); }
  /// Asks `gate` of every request from now on that enters; null: of none. Pre: drawn().
  void set_gate(const Gate<RequestMessage>* gate) { gate_ = gate; }
  /// See In::let_go.
  void let_go(Cycle at);

  void add(Cycle now, const ClockDomain& domain, Request* r, unsigned client, unsigned slice);
  /// Has the first of each queue ask `slices`, whose inputs are the clients, when its time is over. Returns
  /// when the next one's will be.
  [[nodiscard]] Cycle advance(Cycle now, const ClockDomain& domain, Arbiter& slices);
  /// Takes out the client's request that asks for `slice`; null: none does.
  [[nodiscard]] Request* take(unsigned client, unsigned slice);
  [[nodiscard]] unsigned of_client(unsigned client) const { return of_client_[client]; }

  template <class Archive>
  void archive(Archive& a) {
    // Pre: empty().
    std::uint64_t count = queues_.size();
    a(count);
    if (count != 0 && count != of_client_.size() * slices_ * kQueuesOfPair) a.misfit("has other queues");
    queues_.resize(count);
    for (Queue& q : queues_) a(q.residence);
  }
  struct Entry {
    Request* request = nullptr;
    Cycle until = 0;  ///< it rests; kNever: held by the gate
  };
  /// Calls visit(slice, entries) for every queue that is not empty.
  template <class F>
  void for_each_queue(F&& visit) const {
    for (const unsigned n : filled_) visit(slice_of(n), queues_[n].entries);
  }

 private:
  static constexpr unsigned kQueuesOfPair = 2;
  struct Queue {
    unsigned residence = 0;  ///< clock edges
    bool asks = false;       ///< its first request does, for the slice
    std::deque<Entry> entries;
  };
  /// The number of the first queue of a client and a slice.
  [[nodiscard]] unsigned queue_of(unsigned client, unsigned slice) const {
    return (client * slices_ + slice) * kQueuesOfPair;
  }
  [[nodiscard]] unsigned client_of(unsigned queue) const { return queue / kQueuesOfPair / slices_; }
  [[nodiscard]] unsigned slice_of(unsigned queue) const { return queue / kQueuesOfPair % slices_; }

  unsigned slices_;
  std::vector<Queue> queues_;        ///< none until something is drawn
  std::vector<unsigned> filled_;     ///< numbers of those that are not empty
  std::vector<unsigned> of_client_;  ///< requests in its queues
  const Gate<RequestMessage>* gate_ = nullptr;
};

}  // namespace warpline
