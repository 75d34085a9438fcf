#include "warpline/tlp/tlp_queue.h"

#include <algorithm>

#include "warpline/tlp/tlp_rules.h"

namespace warpline {

std::size_t TlpQueue::count(TlpClass of) const {
  return static_cast<std::size_t>(std::count_if(packets_.begin(), packets_.end(),
                                                [of](const Tlp* tlp) { return class_of(tlp->kind) == of; }));
}

void TlpQueue::take(const Tlp* tlp) {
  const auto at = std::find(packets_.begin(), packets_.end(), tlp);
  WARPLINE_EXPECT(at != packets_.end(), "a packet that waits is taken");
  packets_.erase(at);
}

bool TlpQueue::passes_all_before(std::size_t position) const {
  const auto end = packets_.begin() + static_cast<std::ptrdiff_t>(position);
  return std::all_of(packets_.begin(), end, [&](const Tlp* earlier) { return may_pass(**end, *earlier); });
}

}  // namespace warpline
