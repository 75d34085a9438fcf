#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

/// When the activates of a channel's banks are given: as soon as the bank is precharged and activates of
/// others allow (tRRD_S, tRRD_L, tFAW). Of several that could be given at the same edge, the bank that was
/// precharged first goes first, then the one whose turn was decided first.
class DramActivates {
 public:
  /// Pre: parameters without problems.
  explicit DramActivates(const DramParameters& p)
      : interval_(p.activate_interval),
        group_interval_(std::max(p.activate_interval, p.activate_interval_group)),
        window_(p.four_activates),
        groups_(p.bank_groups),
        keeps_(p.row_active != 0 || (interval_ | group_interval_ | window_) != 0),
        last_(keeps_ ? p.bank_groups : 0) {
    if (keeps_) waiting_.reserve(p.banks);
  }

  struct Activate {
    std::uint64_t at = 0;
    std::uint32_t bank = 0;
    std::uint64_t waited = 0;         ///< edges, for other activates
    std::uint64_t waited_window = 0;  ///< of them, for no other reason than the window of four
  };
  /// Whether it matters when activates are given; if not, the rest is of no use.
  [[nodiscard]] bool matter() const { return keeps_; }
  /// A bank without a row is to get one, and is precharged at `from`.
  void want(std::uint64_t from, std::uint32_t bank) {
    const Waiting w{from, bank};
    const auto later = [](const Waiting& a, const Waiting& b) { return a.from < b.from; };
    waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), w, later), w);
    find_next();
  }
  /// When the next activate is given if no more are wanted, or kNever.
  [[nodiscard]] std::uint64_t next() const { return next_at_; }
  /// Gives it. Pre: next() != kNever.
  Activate give() {
    const Waiting w = waiting_[next_];
    waiting_.erase(waiting_.begin() + next_);
    const std::uint64_t others = others_from(w.bank), window = window_from();
    const std::uint64_t at = next_at_;
    const std::uint64_t without_window = std::max(w.from, others);
    last_[w.bank % groups_] = at + group_interval_;
    any_from_ = at + interval_;
    four_[four_next_] = at + window_;
    four_next_ = (four_next_ + 1) % four_.size();
    find_next();
    return {at, w.bank, at - w.from, window > without_window ? window - without_window : 0};
  }
  /// No bank wants one any more.
  void forget() {
    waiting_.clear();
    next_at_ = kNever;
  }
  void restart() {
    forget();
    last_.assign(last_.size(), 0);
    four_ = {};
    any_from_ = 0;
    four_next_ = 0;
  }
  /// Pre: no bank wants one.
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(last_).fixed(four_);
    a(any_from_).index(four_next_, four_.size());
  }

 private:
  struct Waiting {
    std::uint64_t from = 0;
    std::uint32_t bank = 0;
  };
  [[nodiscard]] std::uint64_t others_from(std::uint32_t bank) const {
    return std::max(any_from_, last_[bank % groups_]);
  }
  [[nodiscard]] std::uint64_t window_from() const { return window_ == 0 ? 0 : four_[four_next_]; }
  void find_next() {
    next_at_ = kNever;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const Waiting& w = waiting_[i];
      if (w.from >= next_at_) break;
      const std::uint64_t at = std::max({w.from, others_from(w.bank), window_from()});
      if (at >= next_at_) continue;
      next_at_ = at;
      next_ = static_cast<std::ptrdiff_t>(i);
    }
  }

  unsigned interval_, group_interval_, window_, groups_;
  bool keeps_;
  std::vector<Waiting> waiting_;     ///< in the order in which they go if all could
  std::vector<std::uint64_t> last_;  ///< by bank group: from when on its next one may be given
  std::uint64_t any_from_ = 0;       ///< the next one of any bank
  std::array<std::uint64_t, 4>
      four_{};  ///< when each of the last four has left the window, the oldest at four_next_
  std::size_t four_next_ = 0;
  std::uint64_t next_at_ = kNever;
  std::ptrdiff_t next_ = 0;  ///< which of those that wait
};

}  // namespace warpline
