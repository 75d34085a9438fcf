#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "rtl_models/base/visibility.h"
#include "rtl_models/registers/bus_access.h"

namespace warpline {

/// The accesses that arrived at a device, in order and not combined. Only the newest `most` are kept.
class WARPLINE_PUBLIC AccessLog {
 public:
  explicit AccessLog(std::size_t most = kUnlimited) : most_(most) {}
  static constexpr std::size_t kUnlimited = ~std::size_t{0};

  void add(const BusAccess& access) {
    ++total_;
    if (most_ == 0) return;
    if (entries_.size() == most_) entries_.pop_front();
    entries_.push_back(access);
  }
  /// Oldest first.
  [[nodiscard]] const std::deque<BusAccess>& entries() const { return entries_; }
  /// Accesses so far, kept or not.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// How many of them, the oldest, are no longer in entries().
  [[nodiscard]] std::uint64_t forgotten() const { return total() - entries().size(); }
  void clear() {
    entries_.clear();
    total_ = 0;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(entries_, total_);
    if (entries_.size() > most_ || entries_.size() > total_) a.misfit("logs too many accesses");
  }

 private:
  std::size_t most_;
  std::uint64_t total_ = 0;
  std::deque<BusAccess> entries_;
};

}  // namespace warpline
