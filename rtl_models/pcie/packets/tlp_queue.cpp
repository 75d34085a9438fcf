#include "rtl_models/pcie/packets/tlp_queue.h"

#include <algorithm>

namespace warpline {

void TlpQueue::push(Tlp* tlp) {
  packets_.push_back(tlp);
  ++counts_[static_cast<unsigned>(class_of(tlp->kind))];
  relaxed_ += may_pass_writes(*tlp);
}

void TlpQueue::take(const Tlp* tlp) {
  const auto at = std::find(packets_.begin(), packets_.end(), tlp);
  WARPLINE_EXPECT(at != packets_.end(), "a packet that waits is taken");
  packets_.erase(at);
  --counts_[static_cast<unsigned>(class_of(tlp->kind))];
  relaxed_ -= may_pass_writes(*tlp);
}

bool TlpQueue::passes_all_before(std::size_t position) const {
  const auto end = packets_.begin() + static_cast<std::ptrdiff_t>(position);
  return std::all_of(packets_.begin(), end, [&](const Tlp* earlier) { return may_pass(**end, *earlier); });
}

}  // namespace warpline
