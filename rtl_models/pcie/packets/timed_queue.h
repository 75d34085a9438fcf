#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "rtl_models/base/types.h"

namespace warpline {

/// What is under way and becomes due in the order in which it was sent, each at an edge of a clock, or in a
/// cycle.
template <class T>
class TimedQueue {
 public:
  struct Entry {
    std::uint64_t at = 0;
    T what{};
  };
  /// Pre: not before what was pushed earlier.
  void push(std::uint64_t at, T what) { entries_.push_back({at, std::move(what)}); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// When the next is due; kNever: there is none.
  [[nodiscard]] std::uint64_t next() const { return empty() ? kNever : entries_.front().at; }
  [[nodiscard]] bool due(std::uint64_t now) const { return !empty() && entries_.front().at <= now; }
  [[nodiscard]] const Entry& front() const { return entries_.front(); }
  Entry pop() {
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    return entry;
  }
  /// Takes out what is due, oldest first: visit(Entry), which may push.
  template <class F>
  void take_due(std::uint64_t now, F&& visit) {
    while (due(now)) visit(pop());
  }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  void clear() { entries_.clear(); }

 private:
  std::deque<Entry> entries_;
};

}  // namespace warpline
