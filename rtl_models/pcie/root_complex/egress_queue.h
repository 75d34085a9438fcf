#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "rtl_models/base/types.h"
#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {

/// Packets that are to leave a root complex by one port, in the order in which they got there, from whichever
/// port that was: none leaves before an earlier one that it must not pass (may_pass()). So who has heard of a
/// posted write by another way finds it done where it went.
class EgressQueue {
 public:
  struct Entry {
    std::uint64_t edge = 0;  ///< at which it leaves at the earliest
    unsigned from = 0;       ///< port that it came from
    bool counted = false;    ///< it is one of the requests of that port whose number is limited
    Tlp* tlp = nullptr;
    std::uint64_t downs = 0;  ///< how often the link that it came over had been down by then
  };
  void push(const Entry& entry) {
    entries_.push_back(entry);
    next_ = std::min(next_, entry.edge);
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// Edge at which something may leave; kNever: not before something comes.
  [[nodiscard]] std::uint64_t next() const { return next_; }

  /// Has leave what may at edge `t` and for which fits(const Tlp&): go(const Entry&), which pushes nothing
  /// here. What lacks room only is asked about at every edge.
  template <class Fits, class Go>
  void move(std::uint64_t t, Fits&& fits, Go&& go);
  /// Takes all out: gone(const Entry&), which pushes nothing here.
  template <class Gone>
  void drain(Gone&& gone) {
    for (const Entry& entry : entries_) gone(entry);
    entries_.clear();
    next_ = kNever;
  }

 private:
  std::deque<Entry> entries_;
  std::uint64_t next_ = kNever;
};

template <class Fits, class Go>
void EgressQueue::move(std::uint64_t t, Fits&& fits, Go&& go) {
  if (next_ > t) return;
  next_ = kNever;
  auto kept = entries_.begin();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    const bool in_turn = std::all_of(entries_.begin(), kept,
                                     [&](const Entry& earlier) { return may_pass(*at->tlp, *earlier.tlp); });
    if (in_turn && at->edge <= t && fits(static_cast<const Tlp&>(*at->tlp))) {
      go(static_cast<const Entry&>(*at));
      continue;
    }
    // What is not in turn leaves no earlier than what it waits for, which says when that may be.
    if (in_turn) next_ = std::min(next_, std::max(at->edge, t + 1));
    *kept++ = *at;
  }
  entries_.erase(kept, entries_.end());
}

}  // namespace warpline
