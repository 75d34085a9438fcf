#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/programs/sass_trace/block_reader.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::sass {

/// Where replay gets its thread blocks: the trace, shared by all SMs.
class BlockSupply {
 public:
  virtual ~BlockSupply() = default;
  [[nodiscard]] virtual std::shared_ptr<const TraceBlock> take(std::uint64_t ordinal) = 0;
  [[nodiscard]] virtual const Program& program() const = 0;
  [[nodiscard]] virtual const TraceHeader& header() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

/// One SM's share of a replayed trace. Instructions issue in the recorded order of their warp.
///
/// A barrier holds the lanes that execute it, not the warp: diverged halves reach it one after the
/// other, and the warp stands still only when its next instruction needs a lane that waits.
class ReplaySource final : public InstructionSource {
 public:
  ReplaySource(std::shared_ptr<BlockSupply> supply, unsigned slots);

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override;
  [[nodiscard]] WarpState state(unsigned slot) const override { return slots_[slot].state; }
  [[nodiscard]] const Instruction& next(unsigned slot) override { return slots_[slot].op->instruction; }
  void execute(unsigned slot, Issue& issue) override;
  void complete(unsigned, const Instruction&, const MemoryAccess&, bool) override {}
  void release_barrier(unsigned slot, std::uint32_t id) override;
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return slots_[slot].live; }
  void kill(unsigned slot) override;
  [[nodiscard]] std::string where(const Instruction& instruction) const override;

 private:
  static constexpr unsigned kBarriers = 16;
  struct Slot {
    std::shared_ptr<const TraceBlock> block;
    PackedCursor cursor;
    const StaticOp* op = nullptr;
    WarpState state = WarpState::exited;
    bool ended = true;  ///< its list of instructions is used up
    LaneMask live = 0;
    LaneMask waiting = 0;  ///< lanes at any barrier
    std::array<LaneMask, kBarriers> at_barrier{};
  };

  void advance(Slot& s);
  void settle(Slot& s);
  void execute_barrier(Slot& s, Issue& issue, bool waits);

  std::shared_ptr<BlockSupply> supply_;
  std::vector<Slot> slots_;
};

}  // namespace warpline::sass
