#include "rtl_models/queue_device/queue_pair.h"

#include "rtl_models/base/contract.h"

namespace warpline {

bool QueuePair::ring_submissions(std::uint32_t tail) {
  if (!enabled_ || tail > mask()) return false;
  // Indices only grow, so a tail behind the one before has gone round; then it must not reach the head again.
  const std::uint32_t pending = (sq_tail_ - sq_head_) & mask();
  const std::uint32_t added = (tail - sq_tail_) & mask();
  if (pending + added > mask()) return false;
  sq_tail_ = tail;
  submitted_ += added;
  return true;
}

bool QueuePair::ring_completions(std::uint32_t head) {
  if (!enabled_ || head > mask()) return false;
  const std::uint32_t written = (cq_tail_ - cq_head_) & mask();
  if (((head - cq_head_) & mask()) > written) return false;
  cq_head_ = head;
  return true;
}

std::uint64_t QueuePair::fetch() {
  WARPLINE_EXPECT(may_fetch(), "a command is fetched from a ring that has one");
  const std::uint64_t address = shape_.submissions + 64ULL * sq_head_;
  sq_head_ = next(sq_head_);
  ++fetched_;
  ++fetches_;
  return address;
}

QueuePair::Slot QueuePair::complete() {
  WARPLINE_EXPECT(fetched_ != 0, "a command is fetched before it is completed");
  --fetched_;
  const Slot slot{shape_.completions + 16ULL * cq_tail_, phase_};
  cq_tail_ = next(cq_tail_);
  if (cq_tail_ == 0) phase_ ^= 1U;
  return slot;
}

bool QueuePair::tell(unsigned count, Cycle time, Cycle now) {
  if (!shape_.interrupts) return false;
  if (untold_++ == 0) first_untold_ = now;
  deadline_ = limit(time);
  if (!enough(count)) return false;
  told();
  return true;
}

}  // namespace warpline
