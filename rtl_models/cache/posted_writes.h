#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/sim/request.h"

namespace warpline {

/// Writes that a block has sent, in their order, and that are not performed yet: who has heard that they are
/// done sees them, and so does a debugger. Nobody but debuggers asks for them, so they are noted only where
/// one may come.
class PostedWrites {
 public:
  /// Notes them from now on.
  void watch() { watches_ = true; }
  /// `r` is on its way; if it is a write, it is kept until performed(r).
  void sent(Request& r) {
    if (watches_ && r.command == Command::write) writes_.push_back(&r);
  }
  /// Whoever reads the memory from now on sees `r`, or it has failed.
  void performed(const Request& r) {
    if (writes_.empty()) return;
    const auto found = std::find(writes_.begin(), writes_.end(), &r);
    if (found != writes_.end()) writes_.erase(found);
  }
  /// Lays their bytes over `bytes`, which are memory's, at `address` and on, within one line.
  void overlay(PhysicalAddress address, std::uint8_t* bytes, unsigned count) const {
    for_each_byte(address, count, [bytes](unsigned n, std::uint8_t& theirs) { bytes[n] = theirs; });
  }
  /// Memory has been written by a debugger, after them: they will write the same.
  void update(PhysicalAddress address, const std::uint8_t* bytes, unsigned count) {
    for_each_byte(address, count, [bytes](unsigned n, std::uint8_t& theirs) { theirs = bytes[n]; });
  }

 private:
  /// Calls f(n, byte) where one of them writes byte n of those at `address` and on.
  template <class F>
  void for_each_byte(PhysicalAddress address, unsigned count, F&& f) const {
    for (Request* w : writes_) for_each_byte_of(*w, address, count, f);
  }

  std::vector<Request*> writes_;
  bool watches_ = false;
};

}  // namespace warpline
