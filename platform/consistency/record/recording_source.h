#pragma once

#include <memory>
#include <vector>

#include "platform/consistency/record/execution_recorder.h"

namespace warpline {

/// A program that tells a recorder what it executes, and is otherwise the one that it wraps.
class RecordingSource final : public InstructionSource {
 public:
  /// `grid`: CTAs of the kernel. The recorder outlives it.
  RecordingSource(std::unique_ptr<InstructionSource> source, ExecutionRecorder& recorder, unsigned sm,
                  unsigned slots, Dim3 grid)
      : source_(std::move(source)), recorder_(recorder), sm_(sm), grid_(grid), warps_(slots) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override;
  [[nodiscard]] WarpState state(unsigned slot) const override { return source_->state(slot); }
  [[nodiscard]] const Instruction& next(unsigned slot) override {
    // The SM asks for the next instruction of no warp that stands still at a fence.
    if (warps_[slot].fencing != 0) recorder_.pass_fence(warps_[slot]);
    return source_->next(slot);
  }
  void execute(unsigned slot, Issue& issue) override;
  void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                bool with_data) override;
  void release_barrier(unsigned slot, std::uint32_t id) override;
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return source_->live_lanes(slot); }
  void kill(unsigned slot) override { source_->kill(slot); }
  [[nodiscard]] std::string where(const Instruction& i) const override { return source_->where(i); }

 private:
  std::unique_ptr<InstructionSource> source_;
  ExecutionRecorder& recorder_;
  unsigned sm_;
  Dim3 grid_;
  std::vector<ExecutionRecorder::Warp> warps_;
};

}  // namespace warpline
