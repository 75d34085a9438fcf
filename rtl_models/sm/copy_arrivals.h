#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "rtl_models/sm/copy_groups.h"
#include "rtl_models/sm/instruction.h"

namespace warpline {

/// Arrivals at mbarriers that wait for asynchronous copies (PTX ISA, "cp.async.mbarrier.arrive"): each
/// happens when every copy that its warp had issued before is done. As CopyGroups, which tells what is meant
/// by a warp's copies, it can be used on by a warp that follows another in its slot.
class CopyArrivals {
 public:
  /// Lanes that arrive at one object, each once.
  struct Arrival {
    unsigned slot = 0;
    std::uint64_t at = 0;                      ///< of all shared memory
    std::uint32_t count = 0;                   ///< lanes
    unsigned lane = 0;                         ///< the first of them
    std::uint64_t address = 0;                 ///< as that wrote it
    const Instruction* instruction = nullptr;  ///< outlives it
  };

  explicit CopyArrivals(unsigned slots) : warps_(slots) {}

  /// A copy of the warp begins. Returns what finish() wants to hear.
  std::uint32_t start(unsigned slot) { return warps_[slot].copies.start(); }
  /// Such a copy is done. Calls f(arrival) for each arrival that happens thereby, in the order of their
  /// issue.
  template <class F>
  void finish(unsigned slot, std::uint32_t number, F&& f) {
    Warp& w = warps_[slot];
    w.copies.finish(number);
    while (!w.pending.empty() && w.copies.may_pass(w.commits - w.pending.front().first)) {
      const Arrival arrival = w.pending.front().second;
      w.pending.erase(w.pending.begin());
      f(arrival);
    }
  }
  /// The warp arrives when the copies begun so far are done. False: they are already.
  [[nodiscard]] bool wait(const Arrival& arrival) {
    Warp& w = warps_[arrival.slot];
    if (w.copies.under_way() == 0) return false;
    w.copies.commit();
    w.pending.emplace_back(++w.commits, arrival);
    return true;
  }
  /// The warp's arrivals never happen.
  void forget(unsigned slot) { warps_[slot].pending.clear(); }
  /// Arrivals of the warp that have not happened.
  [[nodiscard]] std::size_t pending(unsigned slot) const { return warps_[slot].pending.size(); }

 private:
  struct Warp {
    CopyGroups copies;                                       ///< a group for each arrival that waits
    std::uint32_t commits = 0;                               ///< groups so far
    std::vector<std::pair<std::uint32_t, Arrival>> pending;  ///< with the number of its group, from 1
  };
  std::vector<Warp> warps_;  ///< of each warp slot
};

}  // namespace warpline
