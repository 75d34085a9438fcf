#pragma once

#include <cstdint>
#include <deque>

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_list.h"

namespace warpline {

/// Knows when all writes sent before a point are acknowledged, however many are sent after it.
/// Writes carry the epoch in which they were sent; a drain closes the epoch and waits until it
/// and all before it are empty.
class WriteTracker {
 public:
  /// A write is sent now. Returns the tag to hand to acknowledged().
  std::uint16_t sent() {
    ++epochs_.back().outstanding;
    return static_cast<std::uint16_t>(first_ + epochs_.size() - 1);
  }
  /// The write with this tag is performed. Drains that are complete thereby go to `done`.
  void acknowledged(std::uint16_t tag, RequestList& done) {
    const std::size_t at = static_cast<std::uint16_t>(tag - first_);
    WARPLINE_EXPECT(at < epochs_.size() && epochs_[at].outstanding > 0, "a write is acknowledged once");
    --epochs_[at].outstanding;
    settle(done);
  }
  /// `drain` waits for all writes sent so far; it goes to `done` at once if there are none.
  void drain(Request* drain, RequestList& done) {
    epochs_.back().drain = drain;
    epochs_.emplace_back();
    settle(done);
  }
  [[nodiscard]] bool idle() const { return epochs_.size() == 1 && epochs_.front().outstanding == 0; }
  /// Writes not yet acknowledged.
  [[nodiscard]] std::uint64_t outstanding() const {
    std::uint64_t n = 0;
    for (const Epoch& e : epochs_) n += e.outstanding;
    return n;
  }
  /// Calls visit(const Request&) for every drain that waits.
  template <class F>
  void for_each_drain(F&& visit) const {
    for (const Epoch& e : epochs_)
      if (e.drain != nullptr) visit(*e.drain);
  }

 private:
  struct Epoch {
    std::uint64_t outstanding = 0;
    Request* drain = nullptr;  ///< waits for this epoch and all before it; null in the open one
  };
  void settle(RequestList& done) {
    while (epochs_.size() > 1 && epochs_.front().outstanding == 0) {
      done.push(epochs_.front().drain);
      epochs_.pop_front();
      ++first_;
    }
  }
  std::deque<Epoch> epochs_ = std::deque<Epoch>(1);
  std::uint16_t first_ = 0;  ///< tag of the oldest epoch; tags wrap, epochs in use are far fewer
};

}  // namespace warpline
