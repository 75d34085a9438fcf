// The call-return stacks of an SM's warps: calls and returns, and how tokens go to local memory and come
// back.
#include <algorithm>
#include <cstring>

#include "warpline/sm/sm.h"

namespace warpline {
namespace {

constexpr unsigned kWordBytes = 4;
constexpr unsigned kWordsPerToken = CallReturnStack::kTokenBytes / kWordBytes;
constexpr unsigned kTokensPerLine = kLineBytes / CallReturnStack::kTokenBytes;

/// Tokens travel as the words of a group's lanes, so that a program can reach them with local accesses.
Instruction token_access(MemKind kind) {
  Instruction i;
  i.kind = InstructionKind::memory;
  i.mem.kind = kind;
  i.mem.space = Space::local;
  i.mem.type = DataType::b32;
  return i;
}

const Instruction kSpill = token_access(MemKind::store);
const Instruction kRefill = token_access(MemKind::load);

unsigned first_lane(const CallReturnStack::Tokens& tokens) {
  return tokens.first % kTokensPerLine * kWordsPerToken;
}

}  // namespace

/// Sends a group of tokens to local memory, or for them. Pre: the load/store unit has room.
void Sm::access_tokens(Cycle now, unsigned slot, const CallReturnStack::Tokens& tokens, bool spill) {
  unsigned index = 0;
  LoadStoreUnit::Entry& e = lsu_.take(index);
  e.instruction = spill ? &kSpill : &kRefill;
  e.tokens = true;
  e.slot = slot;
  e.at = domain().after(now, parameters_.issue_latency);
  e.local_bytes = local_window_;
  MemoryAccess& a = e.access;
  const unsigned lane = first_lane(tokens);
  for (unsigned w = 0; w < tokens.count * kWordsPerToken; ++w) {
    a.active |= LaneMask{1} << (lane + w);
    a.address[lane + w] = stack_base_ + tokens.first / kTokensPerLine * kWordBytes;
    if (!spill) continue;
    const auto word = static_cast<std::uint32_t>(tokens.value[w / kWordsPerToken] >> w % kWordsPerToken * 32);
    std::memcpy(a.lane_data(lane + w), &word, kWordBytes);
  }
  Warp& w = warps_[slot];
  if (spill) {
    ++w.stores;
    ++w.spills;
    counters_.stack_spills += tokens.count;
  } else {
    ++w.loads;
    w.hold = Hold::refill;
    counters_.stack_refills += tokens.count;
  }
  lsu_.queue(index);
}

/// A group of tokens has passed L1, or has come.
void Sm::complete_tokens(const LsuEvent& event, Cycle now) {
  const LoadStoreUnit::Entry& e = lsu_.entry(event.entry);
  Warp& w = warps_[event.slot];
  const bool spilled = e.instruction == &kSpill;
  if (spilled) {
    --w.stores;
    --w.spills;
  } else {
    --w.loads;
    if (w.hold == Hold::refill) w.hold = Hold::none;
    if (!e.killed) {
      CallReturnStack& stack = stacks_[event.slot];
      CallReturnStack::Tokens tokens = stack.wanted();
      std::memset(tokens.value.data(), 0, sizeof tokens.value);
      for (unsigned n = 0; n < tokens.count * kWordsPerToken; ++n) {
        std::uint32_t word = 0;
        std::memcpy(&word, e.access.lane_data(first_lane(tokens) + n), kWordBytes);
        tokens.value[n / kWordsPerToken] |= std::uint64_t{word} << n % kWordsPerToken * 32;
      }
      stack.refill(tokens);
      w.issue_edge = std::max(w.issue_edge, domain().edge_at_or_after(event.ready));
    }
  }
  lsu_.retire(event.entry);
  advance_flush(now, event.slot);
  if (w.scheduled == kNever) evaluate(event.slot);
}

/// A call, a return, SETCRSPTR or a write-back of the stack. Pre: the load/store unit has room.
void Sm::issue_stack(Cycle now, unsigned slot, const Instruction& i) {
  CallReturnStack& stack = stacks_[slot];
  if (i.kind == InstructionKind::call && stack.full()) {
    const CallReturnStack::Tokens oldest = stack.evict();
    if (oldest.count != 0) access_tokens(now, slot, oldest, true);
  }
  if (i.kind == InstructionKind::ret && stack.depth() != 0 && !stack.has_top()) {
    access_tokens(now, slot, stack.wanted(), false);
    return;
  }
  Issue issue;
  issue.clock = edge_;
  issue.stack_depth = stack.depth();
  if (i.kind == InstructionKind::ret && stack.depth() != 0) issue.token = stack.top();
  source_->execute(slot, issue);
  count_issue(issue);
  if (issue.fault != nullptr) return record_fault(now, slot, i, issue);
  if (issue.stack_depth > parameters_.stack_depth || (issue.stack_depth != 0 && stack_base_ == kNoStack)) {
    issue.fault = "call-return stack overflow";
    record_fault(now, slot, i, issue);
    kill(slot);
    return;
  }
  scoreboard_.set(slot, i, domain().after(now, i.latency));
  Warp& w = warps_[slot];
  switch (i.kind) {
    case InstructionKind::call:
      counters_.calls += issue.active != 0;
      if (issue.stack_depth > stack.depth()) stack.push(issue.token);
      return;
    case InstructionKind::ret:
      counters_.returns += issue.active != 0;
      stack.pop_to(std::min(stack.depth(), issue.stack_depth));
      return;
    default:  // SETCRSPTR, WBALL
      if (issue.active == 0) return;
      if (issue.stack_depth < stack.depth()) stack.pop_to(issue.stack_depth);
      if (issue.stack_depth == stack.depth() && i.kind == InstructionKind::set_stack) return;
      w.hold = Hold::flush;
      w.stack_goal = issue.stack_depth;
      flushing_ |= std::uint64_t{1} << slot;
      advance_flush(now, slot);
  }
}

/// Goes on with writing a warp's tokens back, one group at a time; when L1 has accepted them all, the warp
/// goes on.
void Sm::advance_flush(Cycle now, unsigned slot) {
  const std::uint64_t bit = std::uint64_t{1} << slot;
  if ((flushing_ & bit) == 0) return;
  CallReturnStack& stack = stacks_[slot];
  Warp& w = warps_[slot];
  if (!stack.is_clean()) {
    if (lsu_.has_room()) access_tokens(now, slot, stack.write_back(), true);
    return;
  }
  if (w.spills != 0) return;
  flushing_ &= ~bit;
  w.hold = Hold::none;
  if (w.stack_goal > stack.depth()) stack.raise_to(w.stack_goal);
  evaluate(slot);
}

void Sm::advance_flushes(Cycle now) {
  for (std::uint64_t m = flushing_; m != 0; m &= m - 1)
    advance_flush(now, static_cast<unsigned>(__builtin_ctzll(m)));
}

}  // namespace warpline
