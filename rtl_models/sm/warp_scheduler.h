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
  /// `pipes`: those that a warp's next instruction may have to wait for.
  WarpScheduler(unsigned partitions, ArithmeticPipes& pipes) : pipes_(pipes), partitions_(partitions) {
    scheduled_.fill(kNever);
    reset_turns();
    for (unsigned s = 0; s < kSlots; s += partitions) first_members_ |= std::uint64_t{1} << s;
  }
  /// Nobody can issue; time is `edge`.
  void reset(std::uint64_t edge) {
    ready_.reset(edge);
    first_ = 0;
    scheduled_.fill(kNever);
  }
  /// Time is now `edge`.
  void advance(std::uint64_t edge) {
    ready_.advance(edge);
    pipes_.advance(edge);
  }
  /// The warp can issue from `edge` on; kNever: it cannot before it is scheduled again.
  void schedule(unsigned slot, std::uint64_t edge) {
    if (edge == scheduled_[slot]) return;
    if (scheduled_[slot] != kNever) ready_.remove(slot);
    scheduled_[slot] = edge;
    if (edge != kNever) ready_.at(slot, edge);
  }
  /// The same of a warp that is not scheduled.
  void schedule_anew(unsigned slot, std::uint64_t edge) {
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
  /// Whether a warp can issue at the next edge whatever else happens; `room`: the load/store unit has some.
  [[nodiscard]] bool any(bool room) const {
    return (ready_.ready() & ~pipes_.blocked() & ~(room ? 0 : needs_room_)) != 0;
  }
  /// Calls issue(slot) for the warp that issues now in each partition that has one; it is scheduled no more.
  /// `room()`, whether the load/store unit has some, is asked before each that may need it.
  template <class Room, class Issue>
  void issue(Room&& room, Issue&& issue) {
    std::uint64_t rest = ~std::uint64_t{0};  // slots of the partitions that have not had their turn
    for (unsigned p = first_;; rest &= ~members(p), p = p + 1 == partitions_ ? 0 : p + 1) {
      const std::uint64_t left = ready_.ready() & ~pipes_.blocked() & rest;
      if (left == 0) return;
      std::uint64_t mine = left & members(p);
      if ((mine & needs_room_) != 0 && !room()) mine &= ~needs_room_;
      if (mine == 0) continue;
      const std::uint64_t bit = take(p, mine);
      if ((needs_room_ & bit) != 0) first_ = p + 1 == partitions_ ? 0 : p + 1;
      issue(static_cast<unsigned>(__builtin_ctzll(bit)));
    }
  }
  /// The first edge after now at which a warp that waits, or its pipe, is ready; kNever if none waits.
  [[nodiscard]] std::uint64_t next_edge() const {
    const std::uint64_t best = ready_.next_edge();
    return (ready_.ready() & pipes_.blocked()) == 0 ? best : std::min(best, pipes_.next_end());
  }
  /// Of the warps that could issue now: all; those whose pipes are taken. Then those that need room.
  [[nodiscard]] std::uint64_t ready() const { return ready_.ready(); }
  [[nodiscard]] std::uint64_t kept_by_pipes() const { return ready_.ready() & pipes_.blocked(); }
  [[nodiscard]] std::uint64_t need_room() const { return needs_room_; }
  /// From which edge on the warp that issues could have, but for others and its pipe.
  [[nodiscard]] std::uint64_t ready_since() const { return ready_since_; }
  /// Every partition's turn is slot 0's; or is drawn.
  void reset_turns() { later_.fill(~std::uint64_t{0}); }
  void draw_turns(Random& random) {
    for (unsigned p = 0; p < partitions_; ++p) set_turn(p, static_cast<unsigned>(random.below(kSlots)));
  }

  template <class Archive>
  void archive(Archive& a) {
    // Pre: nobody can issue.
    for (unsigned p = 0; p < partitions_; ++p) {
      auto turn = later_[p] == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(later_[p]));
      a.index(turn, kSlots);
      set_turn(p, turn);
    }
  }

 private:
  static constexpr unsigned kSlots = 64, kMostPartitions = 16;
  void set_turn(unsigned p, unsigned slot) { later_[p] = ~((std::uint64_t{1} << slot) - 1); }
  /// The slots of partition `p`.
  [[nodiscard]] std::uint64_t members(unsigned p) const { return first_members_ << p; }
  /// The bit of the one of `mine` whose turn it is in the partition; it is scheduled no more.
  std::uint64_t take(unsigned p, std::uint64_t mine) {
    const std::uint64_t later = mine & later_[p];
    const std::uint64_t chosen = later != 0 ? later : mine;
    const std::uint64_t bit = chosen & -chosen;
    const auto slot = static_cast<unsigned>(__builtin_ctzll(bit));
    later_[p] = ~(bit | (bit - 1));
    ready_.issued(bit);
    ready_since_ = scheduled_[slot];
    scheduled_[slot] = kNever;
    return bit;
  }

  ArithmeticPipes& pipes_;
  std::uint64_t ready_since_ = 0;
  ReadyWarps ready_;
  std::array<std::uint64_t, kSlots> scheduled_;         ///< by slot: the edge for which it stands in ready_
  std::uint64_t needs_room_ = 0;                        ///< slots
  std::array<std::uint64_t, kMostPartitions> later_{};  ///< slots behind the last that issued, per partition
  unsigned partitions_;
  std::uint64_t first_members_ = 0;  ///< slots of the first partition
  unsigned first_ = 0;               ///< the partition that comes first where there is room
};

}  // namespace warpline
