#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rtl_models/base/random.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sm/arithmetic_pipes.h"
#include "rtl_models/sm/ready_warps.h"

namespace warpline {

/// Which warps issue next: in each issue partition one per edge, of those that can the one whose turn is
/// next (round robin). Warp slot n belongs to partition n modulo their number. At most 64 slots.
///
/// Partitions take turns at what room there is in the load/store unit.
class WarpScheduler {
 public:
  /// `pipes`: those that a warp's next instruction may have to wait for; null: none has to.
  explicit WarpScheduler(unsigned partitions, ArithmeticPipes* pipes = nullptr)
      : pipes_(pipes), partitions_(partitions) {
    scheduled_.fill(kNever);
    for (unsigned s = 0; s < kSlots; s += partitions) first_members_ |= std::uint64_t{1} << s;
  }
  /// Nobody can issue; time is `edge`.
  void reset(std::uint64_t edge) {
    ready_.reset(edge);
    edge_ = edge;
    first_ = 0;
    scheduled_.fill(kNever);
  }
  /// Time is now `edge`.
  void advance(std::uint64_t edge) {
    edge_ = edge;
    ready_.advance(edge);
  }
  /// The warp can issue from `edge` on; kNever: it cannot before it is scheduled again.
  void schedule(unsigned slot, std::uint64_t edge) {
    if (edge == scheduled_[slot]) return;
    if (scheduled_[slot] != kNever) ready_.remove(slot);
    scheduled_[slot] = edge;
    if (edge != kNever) ready_.at(slot, edge);
  }
  /// The warp, which is scheduled, cannot issue before `edge` either.
  void delay(unsigned slot, std::uint64_t edge) {
    if (scheduled_[slot] < edge) schedule(slot, edge);
  }
  [[nodiscard]] bool is_scheduled(unsigned slot) const { return scheduled_[slot] != kNever; }
  /// From when on the warp can issue, as it is scheduled; kNever: it is not.
  [[nodiscard]] std::uint64_t scheduled(unsigned slot) const { return scheduled_[slot]; }
  /// Whether what the warp issues next needs room in the load/store unit.
  void set_needs_room(unsigned slot, bool needs) {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    needs_room_ = needs ? needs_room_ | bit : needs_room_ & ~bit;
  }
  /// Whether a warp can issue at the next edge; `room`: the load/store unit has some.
  [[nodiscard]] bool any(bool room) {
    const std::uint64_t ready = room ? ready_.ready() : ready_.ready() & ~needs_room_;
    if (ready == 0 || pipes_ == nullptr || pipes_->known_free_of(ready) != 0) return ready != 0;
    for (unsigned p = 0; p < partitions_; ++p)
      if (const std::uint64_t mine = ready & members(p);
          mine != 0 && pipes_->free_of(p, mine, edge_ + 1) != 0)
        return true;
    return false;
  }
  /// Calls issue(slot) for the warp that issues now in each partition that has one; it is scheduled no more.
  /// `room()`, whether the load/store unit has some, is asked before each that may need it.
  template <class Room, class Issue>
  void issue(Room&& room, Issue&& issue) {
    const unsigned first = first_;
    for (unsigned n = 0; n < partitions_ && ready_.ready() != 0; ++n) {
      unsigned p = first + n;
      if (p >= partitions_) p -= partitions_;
      std::uint64_t mine = ready_.ready() & members(p);
      if (mine == 0) continue;
      if (pipes_ != nullptr) mine = pipes_->free_of(p, mine, edge_);
      if ((mine & needs_room_) != 0 && !room()) mine &= ~needs_room_;
      if (mine == 0) continue;
      const unsigned slot = take(p, mine);
      if ((needs_room_ >> slot & 1U) != 0) first_ = p + 1 == partitions_ ? 0 : p + 1;
      issue(slot);
    }
  }
  /// The first edge after now at which a warp that waits, or its pipe, is ready; kNever if none waits.
  [[nodiscard]] std::uint64_t next_edge() const {
    std::uint64_t best = ready_.next_edge();
    if (pipes_ == nullptr || ready_.ready() == 0) return best;
    for (unsigned p = 0; p < partitions_; ++p)
      best = std::min(best, pipes_->next_edge(p, ready_.ready() & members(p), edge_));
    return best;
  }
  /// Of the warps that could issue now: all; those whose pipes are taken. Then those that need room.
  [[nodiscard]] std::uint64_t ready() const { return ready_.ready(); }
  [[nodiscard]] std::uint64_t kept_by_pipes() {
    if (pipes_ == nullptr) return 0;
    std::uint64_t free = 0;
    for (unsigned p = 0; p < partitions_; ++p) free |= pipes_->free_of(p, ready_.ready() & members(p), edge_);
    return ready_.ready() & ~free;
  }
  [[nodiscard]] std::uint64_t need_room() const { return needs_room_; }
  /// From which edge on the warp that issues could have, but for others and its pipe.
  [[nodiscard]] std::uint64_t ready_since() const { return ready_since_; }
  /// Every partition's turn is slot 0's; or is drawn.
  void reset_turns() { turn_.fill(0); }
  void draw_turns(Random& random) {
    for (unsigned p = 0; p < partitions_; ++p) turn_[p] = static_cast<unsigned>(random.below(kSlots));
  }

  template <class Archive>
  void archive(Archive& a) {
    // Pre: nobody can issue.
    for (unsigned p = 0; p < partitions_; ++p) a.index(turn_[p], kSlots);
  }

 private:
  static constexpr unsigned kSlots = 64, kMostPartitions = 16;
  /// The slots of partition `p`.
  [[nodiscard]] std::uint64_t members(unsigned p) const { return first_members_ << p; }
  /// The one of `mine` whose turn it is in the partition; it is scheduled no more.
  unsigned take(unsigned p, std::uint64_t mine) {
    const std::uint64_t later = mine & ~((std::uint64_t{1} << turn_[p]) - 1);
    const auto slot = static_cast<unsigned>(__builtin_ctzll(later != 0 ? later : mine));
    turn_[p] = (slot + 1) % kSlots;
    ready_.issued(slot);
    ready_since_ = scheduled_[slot];
    scheduled_[slot] = kNever;
    return slot;
  }

  ArithmeticPipes* pipes_;
  std::uint64_t ready_since_ = 0;
  ReadyWarps ready_;
  std::array<std::uint64_t, kSlots> scheduled_;   ///< by slot: the edge for which it stands in ready_
  std::uint64_t needs_room_ = 0;                  ///< slots
  std::array<unsigned, kMostPartitions> turn_{};  ///< slot after the last that issued, per partition
  unsigned partitions_;
  std::uint64_t first_members_ = 0;  ///< slots of the first partition
  std::uint64_t edge_ = 0;
  unsigned first_ = 0;  ///< the partition that comes first where there is room
};

}  // namespace warpline
