#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rtl_models/sm/call_return_stack.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/memory_access.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

/// A group of tokens on its way between a warp's call-return stack and local memory.
struct TokenMove {
  CallReturnStack::Tokens tokens;
  bool spill = false;  ///< to local memory; else from it, and their values are unknown yet
};

/// The call-return stacks of an SM's warps, and how tokens travel: as the words of a group's lanes, so that a
/// program can reach them with local accesses.
class CallStacks {
 public:
  CallStacks(unsigned slots, const SmParameters& parameters)
      : stacks_(slots, CallReturnStack(parameters.stack_entries)), most_(parameters.stack_depth) {}
  /// For a new kernel: `base`, where the backing store begins in a thread's local memory; none: it calls
  /// nothing.
  void start(std::optional<std::uint32_t> base) { base_ = base; }
  [[nodiscard]] CallReturnStack& operator[](unsigned slot) { return stacks_[slot]; }
  /// Whether a stack may have so many tokens.
  [[nodiscard]] bool has_room_for(std::uint32_t depth) const {
    return depth == 0 || (base_ && depth <= most_);
  }
  /// What must move before `i`, a call or return of the warp in `slot`, can issue: a call needs a place for
  /// its token, a return, which waits for it, the newest. What is to be spilled has left the stack.
  [[nodiscard]] std::optional<TokenMove> move_before(unsigned slot, const Instruction& i);
  /// The memory instruction that moves tokens, and for its lanes the addresses and, of a spill, the data.
  [[nodiscard]] static const Instruction& instruction_of(const TokenMove& move);
  void write_lanes(const TokenMove& move, MemoryAccess& access) const;
  /// The tokens that the stack wanted have come in `access`.
  void refill(unsigned slot, const MemoryAccess& access);

 private:
  std::vector<CallReturnStack> stacks_;  ///< of each warp slot
  std::uint32_t most_;
  std::optional<std::uint32_t> base_;
};

}  // namespace warpline
