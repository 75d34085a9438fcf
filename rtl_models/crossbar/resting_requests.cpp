#include "rtl_models/crossbar/resting_requests.h"

#include <algorithm>

#include "rtl_models/sim/jitter.h"

namespace warpline {

void RestingRequests::draw(Random& random) {
  if (queues_.empty()) queues_ = std::vector<Queue>(of_client_.size() * slices_ * kQueuesOfPair);
  for (Queue& q : queues_) q.residence = Jitter::residence(random);
}

void RestingRequests::let_go(Cycle at) {
  for (const unsigned n : filled_)
    for (Entry& e : queues_[n].entries)
      if (e.until == kNever && (gate_ == nullptr || !gate_->holds({e.request}))) e.until = at;
}

void RestingRequests::add(Cycle now, const ClockDomain& domain, Request* r, unsigned client, unsigned slice) {
  const unsigned n = queue_of(client, slice) + r->surface;
  Queue& q = queues_[n];
  if (q.entries.empty()) filled_.push_back(n);
  const bool held = gate_ != nullptr && gate_->holds({r});
  q.entries.push_back({r, held ? kNever : domain.after(now, q.residence)});
  ++of_client_[client];
}

Cycle RestingRequests::advance(Cycle now, const ClockDomain& domain, Arbiter& slices) {
  Cycle next = kNever;
  for (const unsigned n : filled_) {
    Queue& q = queues_[n];
    if (q.asks) continue;
    if (const Cycle until = q.entries.front().until; until > now) {
      next = std::min(next, until);
      continue;
    }
    next = domain.after(now, 1);
    if (queues_[n ^ 1U].asks) continue;  // the pair's other queue is first
    q.asks = true;
    slices.ask(slice_of(n), client_of(n));
  }
  return next;
}

Request* RestingRequests::take(unsigned client, unsigned slice) {
  if (queues_.empty()) return nullptr;
  unsigned n = queue_of(client, slice);
  if (!queues_[n].asks) ++n;
  Queue& q = queues_[n];
  if (!q.asks) return nullptr;
  Request* r = q.entries.front().request;
  q.entries.pop_front();
  q.asks = false;
  --of_client_[client];
  if (q.entries.empty()) filled_.erase(std::find(filled_.begin(), filled_.end(), n));
  return r;
}

}  // namespace warpline
