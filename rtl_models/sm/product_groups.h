#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// The asynchronous products of one warp in their groups (PTX ISA, "wgmma.commit_group"). Nothing of it is
/// kept where the SM is idle.
class ProductGroups {
 public:
  void clear() {
    groups_.clear();
    groups_.emplace_back();
    first_ = 0;
  }
  /// A product is issued. Returns its group, which is still open.
  std::uint32_t start() {
    ++groups_.back().under_way;
    return first_ + static_cast<std::uint32_t>(groups_.size()) - 1;
  }
  /// A product of `group` is made; it can be read from `ready` on.
  void finish(std::uint32_t group, Cycle ready) {
    Group& g = groups_[group - first_];
    --g.under_way;
    g.ready = std::max(g.ready, ready);
  }
  void commit() { groups_.emplace_back(); }
  /// From when on all but the `groups_left` groups committed last can be read; kNever: that is not known yet.
  [[nodiscard]] Cycle ready(std::uint32_t groups_left) const {
    Cycle at = 0;
    for (std::size_t n = 0; n < waited(groups_left); ++n) {
      if (groups_[n].under_way != 0) return kNever;
      at = std::max(at, groups_[n].ready);
    }
    return at;
  }
  /// Those have been waited for. Pre: ready() has come.
  void forget(std::uint32_t groups_left) {
    const std::size_t n = waited(groups_left);
    groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(n));
    first_ += static_cast<std::uint32_t>(n);
  }

 private:
  struct Group {
    unsigned under_way = 0;
    Cycle ready = 0;
  };
  /// Of groups_, how many that a wait waits for.
  [[nodiscard]] std::size_t waited(std::uint32_t groups_left) const {
    const std::size_t committed = groups_.size() - 1;
    return committed - std::min<std::size_t>(committed, groups_left);
  }

  std::vector<Group> groups_{1};  ///< the oldest first; the last is open
  std::uint32_t first_ = 0;       ///< number of the oldest
};

}  // namespace warpline
