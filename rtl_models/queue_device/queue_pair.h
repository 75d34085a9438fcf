#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// A queue pair of a queue device: the indices of its two rings, and when it raises its interrupt. No bus, no
/// registers.
class QueuePair {
 public:
  /// How software has set it up.
  struct Shape {
    std::uint64_t submissions = 0;  ///< address of the ring
    std::uint64_t completions = 0;
    unsigned order = 1;  ///< both have 2^order entries
    unsigned vector = 0;
    bool interrupts = false;
    bool relaxed = false;
  };
  void enable(const Shape& shape) {
    *this = QueuePair{};
    shape_ = shape;
    enabled_ = true;
  }
  /// No more is fetched; what was is still completed.
  void disable() { enabled_ = false; }
  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }

  /// The doorbells. False, and nothing changes: not enabled, beyond the ring, or past what the other side has
  /// left.
  [[nodiscard]] bool ring_submissions(std::uint32_t tail);
  [[nodiscard]] bool ring_completions(std::uint32_t head);

  /// Whether the submission ring has a command, and the completion ring a free entry for its completion. So a
  /// command that was fetched never waits for software to take completions, and holds up no other queue.
  [[nodiscard]] bool may_fetch() const {
    return enabled_ && sq_head_ != sq_tail_ && ((cq_tail_ - cq_head_) & mask()) + fetched_ < mask();
  }
  /// Takes the next command out of the ring: the address of its entry. Pre: may_fetch().
  std::uint64_t fetch();
  /// The entry into which a completion goes.
  struct Slot {
    std::uint64_t address = 0;
    std::uint16_t phase = 0;
  };
  /// Takes the next. Pre: a command that was fetched is not completed.
  Slot complete();
  [[nodiscard]] std::uint32_t sq_head() const { return sq_head_; }
  [[nodiscard]] std::uint32_t cq_tail() const { return cq_tail_; }
  [[nodiscard]] std::uint32_t sq_tail() const { return sq_tail_; }
  [[nodiscard]] std::uint32_t cq_head() const { return cq_head_; }
  [[nodiscard]] std::uint16_t phase() const { return phase_; }
  /// Commands that doorbells have told of, and those of them that were fetched, since it was enabled.
  [[nodiscard]] std::uint64_t submitted() const { return submitted_; }
  [[nodiscard]] std::uint64_t fetches() const { return fetches_; }

  /// A completion was written; `count` and `time` (cycles; 0: no limit) are what coalescing is set to.
  /// Whether the interrupt is raised now.
  [[nodiscard]] bool tell(unsigned count, Cycle time, Cycle now);
  /// Coalescing was set anew, which holds for the completions not told of, too: the deadline is `now` if
  /// there are enough of them.
  void coalesce(unsigned count, Cycle time, Cycle now) {
    if (untold_ != 0) deadline_ = enough(count) ? now : limit(time);
  }
  /// When the interrupt is raised for completions not told of; kNever: there are none, or there is no limit.
  [[nodiscard]] Cycle deadline() const { return deadline_; }
  /// Whether that time has come; if so, they are told of.
  [[nodiscard]] bool due(Cycle now) {
    if (deadline_ > now) return false;
    told();
    return true;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(shape_.submissions, shape_.completions);
    a.index(shape_.order, 32);
    a(shape_.vector, shape_.interrupts, shape_.relaxed, enabled_, sq_head_, sq_tail_, cq_head_, cq_tail_,
      fetched_, submitted_, fetches_, phase_, untold_, first_untold_, deadline_);
  }

 private:
  /// Whether there are completions not told of, and as many as `count` wants.
  [[nodiscard]] bool enough(unsigned count) const { return untold_ != 0 && untold_ >= count; }
  /// When those are told of for their age.
  [[nodiscard]] Cycle limit(Cycle time) const { return time == 0 ? kNever : first_untold_ + time; }
  void told() {
    untold_ = 0;
    deadline_ = kNever;
  }
  [[nodiscard]] std::uint32_t mask() const { return (std::uint32_t{1} << shape_.order) - 1; }
  [[nodiscard]] std::uint32_t next(std::uint32_t index) const { return (index + 1) & mask(); }

  Shape shape_;
  bool enabled_ = false;
  std::uint32_t sq_head_ = 0, sq_tail_ = 0, cq_head_ = 0, cq_tail_ = 0;
  std::uint32_t fetched_ = 0;  ///< commands that are fetched and not completed
  std::uint64_t submitted_ = 0, fetches_ = 0;
  std::uint16_t phase_ = 1;
  unsigned untold_ = 0;     ///< completions that no interrupt has announced
  Cycle first_untold_ = 0;  ///< when the first of them was written
  Cycle deadline_ = kNever;
};

}  // namespace warpline
