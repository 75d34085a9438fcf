#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/dram/dram_core.h"

namespace warpline {

/// The requests that a DRAM channel has taken, each known by its place in the queue, which stands in one
/// list at a time.
class DramQueue {
 public:
  static constexpr std::uint32_t kNone = ~0U;
  struct Request {
    DramPlace place;
    std::uint64_t came = 0;    ///< edge
    std::uint64_t number = 0;  ///< in the order in which they came
    std::uint64_t turn = 0;    ///< in the order in which they became ready
    std::uint32_t next = kNone;
    unsigned sectors = 0;
    std::uint32_t group = 0;  ///< of its bank
    bool is_write = false;
  };
  /// First in, first out.
  struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    [[nodiscard]] bool empty() const { return head == kNone; }
  };

  explicit DramQueue(std::uint32_t size) : requests_(size) {}
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(requests_.size()); }
  [[nodiscard]] Request& operator[](std::uint32_t entry) { return requests_[entry]; }
  [[nodiscard]] const Request& operator[](std::uint32_t entry) const { return requests_[entry]; }
  void push(List& list, std::uint32_t entry) {
    requests_[entry].next = kNone;
    (list.empty() ? list.head : requests_[list.tail].next) = entry;
    list.tail = entry;
  }
  /// Pre: not empty.
  std::uint32_t pop(List& list) {
    const std::uint32_t entry = list.head;
    list.head = requests_[entry].next;
    return entry;
  }
  template <class F>
  void for_each(const List& list, F&& visit) const {
    for (std::uint32_t e = list.head; e != kNone; e = requests_[e].next) visit(e);
  }

 private:
  std::vector<Request> requests_;
};

}  // namespace warpline
