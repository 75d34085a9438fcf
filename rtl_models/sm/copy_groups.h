#pragma once

#include <cstdint>
#include <vector>

namespace warpline {

/// The asynchronous copies of one warp in their groups (PTX ISA, "cp.async.commit_group"). In PTX each thread
/// has groups of its own. Here a warp's groups are counted together: a commit by any of its lanes ends the
/// open group. So a lane may wait for more copies than it has to, never for fewer: the warp has committed at
/// least as many groups as the lane since any of its copies. A warp that follows another in its slot can go
/// on with the same object, as no warp ends with copies under way.
class CopyGroups {
 public:
  /// Instruction::groups_left of an instruction that waits for all copies, committed or not.
  static constexpr std::uint32_t kWaitForAll = ~std::uint32_t{0};

  /// A copy is issued. Returns its group, which is still open.
  std::uint32_t start() {
    if (pending_.empty()) {
      first_ = open_;
      pending_.push_back(0);
    }
    while (open_ - first_ >= pending_.size()) pending_.push_back(0);
    ++pending_.back();
    ++under_way_;
    return open_;
  }
  /// A copy of `group` has written shared memory, or never will.
  void finish(std::uint32_t group) {
    --pending_[group - first_];
    --under_way_;
    while (!pending_.empty() && pending_.front() == 0) {
      pending_.erase(pending_.begin());
      ++first_;
    }
  }
  /// The copies issued since the last commit become a group; a group without copies is complete.
  void commit() { ++open_; }
  /// Copies that have not finished.
  [[nodiscard]] unsigned under_way() const { return under_way_; }
  /// Whether at most the `groups_left` groups committed last have unfinished copies.
  [[nodiscard]] bool may_pass(std::uint32_t groups_left) const {
    if (under_way_ == 0) return true;
    if (groups_left == kWaitForAll) return false;
    return std::uint64_t{open_ - first_} <= groups_left;
  }

 private:
  std::uint32_t open_ = 0;         ///< number of the group that copies join
  std::uint32_t first_ = 0;        ///< number of the oldest group with unfinished copies
  std::vector<unsigned> pending_;  ///< unfinished copies of `first_` and the groups after it
  unsigned under_way_ = 0;
};

}  // namespace warpline
