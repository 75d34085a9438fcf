// Where an SM's warps get the code from that they issue.
#include "warpline/sm/sm.h"

namespace warpline {

/// The warp's next instruction lies in another line than its last: whether that is there.
bool Sm::come_to(unsigned slot, std::uint64_t line) {
  const bool there = fetch_.come_to(slot, line);
  // Of a diverged warp, other lanes may run next than those that wait. Coming back to the line that they ran
  // in, they ask for it, and what the others asked for no longer counts as theirs.
  warps_[slot].line = there ? line : fetch_.no_line();
  return there;
}

void Sm::take_instructions(Cycle now) {
  const InstructionFetch::Arrival arrival = fetch_.respond(*from_instruction.pop(now).request);
  for (std::uint64_t slots = arrival.slots; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<unsigned>(__builtin_ctzll(slots));
    if (arrival.failed) {
      fail_fetch(now, slot);
    } else {
      warps_[slot].line = arrival.line;
      evaluate(slot);
      // A dead line serves what waited for it: one instruction. A warp that could stay in it, in a loop,
      // would run old code for good.
      if (!arrival.live) warps_[slot].line = fetch_.no_line();
    }
  }
}

/// The code that the warp waits for cannot be read: that ends it.
void Sm::fail_fetch(Cycle now, unsigned slot) {
  const Instruction& next = *warps_[slot].next;
  ++counters_.program_faults;
  const LaneMask live = source_->live_lanes(slot);
  const auto lane = static_cast<unsigned>(__builtin_ctz(live));
  keep_fault(name_of(FaultKind::no_code), {FaultKind::no_code, now, slot, lane, next.pc, &next});
  kill(slot);
  evaluate(slot);
}

/// Takes its line from every warp. What is about to issue has been fetched and does.
void Sm::invalidate_instructions() {
  fetch_.invalidate();
  for (Warp& w : warps_) w.line = fetch_.no_line();
}

}  // namespace warpline
