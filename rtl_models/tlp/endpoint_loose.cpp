// What a function does with packets that are loosely timed.
#include "warpline/tlp/endpoint_core.h"

namespace warpline {

void EndpointCore::perform_outside(Tlp* tlp, LooseTlpTarget& root, Cycle& at) {
  root.perform(*tlp, at);
  if (tlp->posted()) return pool_.release(tlp);
  tlp->kind = TlpKind::completion;
  if (tlp->status != CompletionStatus::successful) tlp->data.clear();
  tlp->bytes = tlp->remaining = tlp->payload();
  BarRequest none;
  static_cast<void>(receive(tlp, none));
}

bool EndpointCore::receive_loosely(Tlp& tlp, BarRequest& request) {
  tlp.status = CompletionStatus::unsupported_request;
  Tlp* const copy = pool_.allocate();
  *copy = tlp;
  // What it has made itself may wait there: another device's access may come while it makes one.
  const std::size_t before = outgoing_.size();
  if (receive(copy, request)) return true;
  for (; outgoing_.size() > before; outgoing_.pop_back()) {
    tlp.status = outgoing_.back()->status;
    tlp.data.swap(outgoing_.back()->data);
    pool_.release(outgoing_.back());
  }
  return false;
}

}  // namespace warpline
