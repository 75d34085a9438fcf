#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rtl_models/sm/instruction_source.h"

namespace warpline::test {

/// Token of the call that is move 0 of a CallSource; that of move n is kToken + n.
inline constexpr std::uint64_t kToken = 0x1234'0000'0000'0000ULL;

/// Warps that call and return as their scripts say. Keeps the tokens that the first got.
class CallSource final : public InstructionSource {
 public:
  struct Move {
    InstructionKind kind;
    std::uint32_t depth = 0;                       ///< of set_stack
    MemOp mem = {};                                ///< of memory
    std::function<void(MemoryAccess&)> fill = {};  ///< likewise
  };
  using Script = std::vector<Move>;
  /// What a run tells.
  struct Log {
    std::vector<std::uint64_t> returned;
    std::uint64_t last_issue = 0;  ///< cycle
  };
  CallSource(const std::vector<Script>& scripts, Log& log)
      : scripts_(scripts), log_(log), warps_(scripts.size()) {}
  void begin_warp(unsigned slot, Dim3, unsigned, LaneMask threads) override {
    Warp& w = warps_[slot];
    w.lanes = scripts_[slot].empty() ? 0 : threads;
    for (const Move& m : scripts_[slot]) {
      Instruction i;
      i.kind = m.kind;
      i.mem = m.mem;
      w.program.push_back(i);
    }
  }
  [[nodiscard]] WarpState state(unsigned slot) const override {
    return warps_[slot].lanes == 0 ? WarpState::exited : WarpState::runnable;
  }
  [[nodiscard]] const Instruction& next(unsigned slot) override {
    return warps_[slot].program[warps_[slot].at];
  }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    const Move& m = scripts_[slot][w.at];
    issue.active = w.lanes;
    log_.last_issue = issue.clock;
    if (m.fill && issue.access != nullptr) m.fill(*issue.access);
    if (m.kind == InstructionKind::call) {
      issue.token = kToken + w.at;
      ++issue.stack_depth;
    } else if (m.kind == InstructionKind::ret) {
      if (slot == 0) log_.returned.push_back(issue.token);
      if (issue.stack_depth != 0) --issue.stack_depth;
    } else if (m.kind == InstructionKind::set_stack) {
      issue.stack_depth = m.depth;
    }
    if (++w.at == scripts_[slot].size()) w.lanes = 0;
  }
  void complete(unsigned, const Instruction&, const MemoryAccess&, bool) override {}
  void release_barrier(unsigned, std::uint32_t) override {}
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return warps_[slot].lanes; }
  void kill(unsigned slot) override { warps_[slot].lanes = 0; }
  [[nodiscard]] std::string where(const Instruction&) const override { return "here"; }

 private:
  struct Warp {
    std::size_t at = 0;
    LaneMask lanes = 0;
    std::vector<Instruction> program;
  };
  const std::vector<Script>& scripts_;
  Log& log_;
  std::vector<Warp> warps_;  ///< by slot: the first CTA's
};

inline std::vector<CallSource::Move> repeated(InstructionKind kind, unsigned count) {
  return std::vector<CallSource::Move>(count, {kind});
}
inline std::vector<CallSource::Move> operator+(std::vector<CallSource::Move> a,
                                               const std::vector<CallSource::Move>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace warpline::test
