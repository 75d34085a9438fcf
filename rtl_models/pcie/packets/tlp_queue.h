#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>

#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {

/// Packets that wait at one end of a link, in the order in which they came, and the choice of the one that
/// goes next: the oldest for which there is room, but none before an earlier one that it must not pass
/// (may_pass()).
class TlpQueue {
 public:
  void push(Tlp* tlp) {
    packets_.push_back(tlp);
    ++counts_[static_cast<unsigned>(class_of(tlp->kind))];
    relaxed_ += may_pass_writes(*tlp);
  }
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t size() const { return packets_.size(); }
  [[nodiscard]] std::size_t count(TlpClass of) const { return counts_[static_cast<unsigned>(of)]; }
  /// The next for which `fits(const Tlp&)`; null if there is none now. It stays in the queue.
  template <class F>
  [[nodiscard]] Tlp* choose(F&& fits) const;
  /// Takes out what choose() named.
  void take(const Tlp* tlp) {
    const auto at = std::find(packets_.begin(), packets_.end(), tlp);
    WARPLINE_EXPECT(at != packets_.end(), "a packet that waits is taken");
    packets_.erase(at);
    --counts_[static_cast<unsigned>(class_of(tlp->kind))];
    relaxed_ -= may_pass_writes(*tlp);
  }
  /// Takes all out, oldest first: visit(Tlp*).
  template <class F>
  void drain(F&& visit) {
    for (Tlp* tlp : packets_) visit(tlp);
    packets_.clear();
    counts_ = {};
    relaxed_ = 0;
  }
  template <class F>
  void for_each(F&& visit) const {
    for (const Tlp* tlp : packets_) visit(*tlp);
  }

 private:
  [[nodiscard]] bool passes_all_before(std::size_t position) const {
    const auto end = packets_.begin() + static_cast<std::ptrdiff_t>(position);
    return std::all_of(packets_.begin(), end, [&](const Tlp* earlier) { return may_pass(**end, *earlier); });
  }
  std::deque<Tlp*> packets_;
  std::array<std::size_t, kTlpClasses> counts_{};
  std::size_t relaxed_ = 0;  ///< packets among them that may pass writes
};

template <class F>
Tlp* TlpQueue::choose(F&& fits) const {
  std::size_t relaxed = relaxed_;
  bool behind_write = false;
  for (std::size_t i = 0; i < packets_.size(); ++i) {
    const Tlp& tlp = *packets_[i];
    const bool passes = may_pass_writes(tlp);
    if ((passes || !behind_write) && fits(tlp) && passes_all_before(i)) return packets_[i];
    relaxed -= passes;
    behind_write = behind_write || tlp.posted();
    // However long the queue is, nothing else can leave it.
    if (behind_write && relaxed == 0) break;
  }
  return nullptr;
}

}  // namespace warpline
