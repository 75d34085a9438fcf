#pragma once

#include <array>
#include <cstddef>
#include <deque>

#include "warpline/tlp/tlp.h"

namespace warpline {

/// Packets that wait at one end of a link, in the order in which they came, and the choice of the one that
/// goes next: the oldest for which there is room, but none before an earlier one that it must not pass
/// (may_pass()).
class TlpQueue {
 public:
  void push(Tlp* tlp) { packets_.push_back(tlp); }
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] std::size_t size() const { return packets_.size(); }
  [[nodiscard]] std::size_t count(TlpClass of) const;
  /// The next for which `fits(const Tlp&)`; null if there is none now. It stays in the queue.
  template <class F>
  [[nodiscard]] Tlp* choose(F&& fits) const;
  /// Takes out what choose() named.
  void take(const Tlp* tlp);
  /// Takes all out, oldest first: visit(Tlp*).
  template <class F>
  void drain(F&& visit) {
    for (; !packets_.empty(); packets_.pop_front()) visit(packets_.front());
  }
  template <class F>
  void for_each(F&& visit) const {
    for (const Tlp* tlp : packets_) visit(*tlp);
  }

 private:
  [[nodiscard]] bool passes_all_before(std::size_t position) const;
  std::deque<Tlp*> packets_;
};

template <class F>
Tlp* TlpQueue::choose(F&& fits) const {
  for (std::size_t i = 0; i < packets_.size(); ++i)
    if (fits(static_cast<const Tlp&>(*packets_[i])) && passes_all_before(i)) return packets_[i];
  return nullptr;
}

}  // namespace warpline
