#include "rtl_models/sm/call_stacks.h"

#include <cstring>

namespace warpline {
namespace {

constexpr unsigned kWordBytes = 4;
constexpr unsigned kWordsPerToken = CallReturnStack::kTokenBytes / kWordBytes;
constexpr unsigned kTokensPerLine = kLineBytes / CallReturnStack::kTokenBytes;

Instruction token_access(MemKind kind) {
  Instruction i;
  i.kind = InstructionKind::memory;
  i.mem.kind = kind;
  i.mem.space = Space::local;
  i.mem.type = DataType::b32;
  return i;
}

/// The lane that has the first word.
unsigned lane_of(const CallReturnStack::Tokens& tokens) {
  return tokens.first % kTokensPerLine * kWordsPerToken;
}

}  // namespace

std::optional<TokenMove> CallStacks::move_before(unsigned slot, const Instruction& i) {
  CallReturnStack& stack = stacks_[slot];
  if (i.kind == InstructionKind::call && stack.full()) {
    const CallReturnStack::Tokens oldest = stack.evict();
    if (oldest.count != 0) return TokenMove{oldest, true};
  }
  if (i.kind == InstructionKind::ret && stack.depth() != 0 && !stack.has_top())
    return TokenMove{stack.wanted(), false};
  return std::nullopt;
}

const Instruction& CallStacks::instruction_of(const TokenMove& move) {
  static const Instruction kSpill = token_access(MemKind::store), kRefill = token_access(MemKind::load);
  return move.spill ? kSpill : kRefill;
}

void CallStacks::write_lanes(const TokenMove& move, MemoryAccess& access) const {
  const CallReturnStack::Tokens& tokens = move.tokens;
  const unsigned lane = lane_of(tokens);
  for (unsigned w = 0; w < tokens.count * kWordsPerToken; ++w) {
    access.active |= LaneMask{1} << (lane + w);
    access.address[lane + w] = *base_ + tokens.first / kTokensPerLine * kWordBytes;
    if (!move.spill) continue;
    const auto word = static_cast<std::uint32_t>(tokens.value[w / kWordsPerToken] >> w % kWordsPerToken * 32);
    std::memcpy(access.lane_data(lane + w), &word, kWordBytes);
  }
}

void CallStacks::refill(unsigned slot, const MemoryAccess& access) {
  CallReturnStack::Tokens tokens = stacks_[slot].wanted();
  tokens.value = {};
  for (unsigned n = 0; n < tokens.count * kWordsPerToken; ++n) {
    std::uint32_t word = 0;
    std::memcpy(&word, access.lane_data(lane_of(tokens) + n), kWordBytes);
    tokens.value[n / kWordsPerToken] |= std::uint64_t{word} << n % kWordsPerToken * 32;
  }
  stacks_[slot].refill(tokens);
}

}  // namespace warpline
