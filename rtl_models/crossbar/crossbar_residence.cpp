// Requests that lie in queues of their own for a while, so that those to different slices, and of different
// proxies, pass each other.
#include <algorithm>

#include "warpline/crossbar/crossbar.h"
#include "warpline/fabric/jitter.h"

namespace warpline {

void Crossbar::draw_residence(Random& random) {
  if (queues_.empty()) queues_ = std::vector<Queue>(from_client_.size() * slices_ * kQueuesOfPair);
  for (Queue& q : queues_) q.residence = Jitter::residence(random);
}

void Crossbar::rest(Cycle now, Request* r, unsigned client, unsigned slice) {
  const unsigned n = queue_of(client, slice) + r->surface;
  Queue& q = queues_[n];
  if (q.entries.empty()) filled_.push_back(n);
  const bool held = gate_ != nullptr && gate_->holds({r});
  q.entries.push_back({r, held ? kNever : domain().after(now, q.residence)});
  ++resting_[client];
}

/// Has the first of each queue ask when its time is over. Returns when the next one's will be.
Cycle Crossbar::advance_resting(Cycle now) {
  Cycle next = kNever;
  for (const unsigned n : filled_) {
    Queue& q = queues_[n];
    if (q.asks) continue;
    if (const Cycle until = q.entries.front().until; until > now) {
      next = std::min(next, until);
      continue;
    }
    next = domain().after(now, 1);
    if (queues_[n ^ 1U].asks) continue;  // the pair's other queue is first
    q.asks = true;
    down_.ask(slice_of(n), client_of(n));
  }
  for (unsigned client = 0; client < postponed_.size(); ++client) {
    if (!postponed_[client] || resting_[client] != 0) continue;
    postponed_[client] = false;
    begin_maintenance(client);
    next = domain().after(now, 1);
  }
  return next;
}

void Crossbar::let_go(Cycle at) {
  for (const unsigned n : filled_)
    for (Queue::Entry& e : queues_[n].entries)
      if (e.until == kNever && (gate_ == nullptr || !gate_->holds({e.request}))) e.until = at;
  wake(at);
}

/// Takes the request that asks for `slice` out of the client's queue; null: none does.
Request* Crossbar::take_resting(unsigned client, unsigned slice) {
  if (queues_.empty()) return nullptr;
  unsigned n = queue_of(client, slice);
  if (!queues_[n].asks) ++n;
  Queue& q = queues_[n];
  if (!q.asks) return nullptr;
  Request* r = q.entries.front().request;
  q.entries.pop_front();
  q.asks = false;
  --resting_[client];
  if (q.entries.empty()) filled_.erase(std::find(filled_.begin(), filled_.end(), n));
  return r;
}

}  // namespace warpline
