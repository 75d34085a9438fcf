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
      : source_(std::move(source)), recorder_(recorder), sm_(sm), grid_(grid), warps_(slots), last_(slots) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    last_[slot] = nullptr;
    warps_[slot] = {sm_, slot, cta, cta.number_in(grid_), warp_in_cta * kWarpLanes};
    source_->begin_warp(slot, cta, warp_in_cta, threads);
  }
  [[nodiscard]] WarpState state(unsigned slot) const override { return source_->state(slot); }
  [[nodiscard]] const Instruction& next(unsigned slot) override {
    // The SM asks for the next instruction of no warp that stands still at a fence.
    if (warps_[slot].fencing != 0) recorder_.pass_fence(warps_[slot]);
    return source_->next(slot);
  }
  void execute(unsigned slot, Issue& issue) override {
    const Instruction& i = source_->next(slot);
    source_->execute(slot, issue);
    switch (i.kind) {
      case InstructionKind::memory: recorder_.access(warps_[slot], i, *source_, *issue.access); break;
      case InstructionKind::fence:
        if (is_one_way(slot, i)) recorder_.refuse("one-way fences of the async proxy", source_->where(i));
        recorder_.fence(warps_[slot], i, *source_, issue.active);
        break;
      case InstructionKind::commit_copies: recorder_.commit_copies(warps_[slot], issue.active); break;
      case InstructionKind::wait_copies:
        recorder_.wait_for_copies(warps_[slot], issue.active, i.groups_left);
        break;
      case InstructionKind::commit_bulk: recorder_.commit_bulk(warps_[slot], issue.active); break;
      case InstructionKind::wait_bulk:
      case InstructionKind::wait_bulk_reads:
        recorder_.wait_for_bulk(warps_[slot], issue.active, i.groups_left,
                                i.kind == InstructionKind::wait_bulk_reads);
        break;
      case InstructionKind::barrier: recorder_.arrive(warps_[slot], i, *source_, issue); break;
      case InstructionKind::cluster_arrive:
      case InstructionKind::cluster_wait:
        recorder_.meet_in_cluster(warps_[slot], i, *source_, issue.active, is_released(slot, i));
        break;
      default: break;
    }
    last_[slot] = &i;
  }
  void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                bool with_data) override {
    recorder_.answer(access);
    source_->complete(slot, instruction, access, with_data);
  }
  void release_barrier(unsigned slot, std::uint32_t id) override {
    recorder_.release(warps_[slot], id);
    source_->release_barrier(slot, id);
  }
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return source_->live_lanes(slot); }
  void kill(unsigned slot) override { source_->kill(slot); }
  [[nodiscard]] std::string where(const Instruction& i) const override { return source_->where(i); }
  void keep_in_step(bool in_step) override { source_->keep_in_step(in_step); }
  [[nodiscard]] std::optional<std::uint64_t> digest(unsigned slot) const override {
    return source_->digest(slot);
  }

 private:
  /// Whether a fence of the async proxy and another fence make up one statement.
  [[nodiscard]] bool is_one_way(unsigned slot, const Instruction& i) const {
    const Instruction* const before = last_[slot];
    const auto is_of_proxy = [](const Instruction& f) {
      return f.mem.kind == MemKind::proxy_fence && f.mem.proxy == Proxy::async;
    };
    return before != nullptr && before != &i && before->kind == InstructionKind::fence &&
           is_of_proxy(*before) != is_of_proxy(i) && source_->where(*before) == source_->where(i);
  }
  /// Whether a fence of the same statement goes before an arrival at the barrier of a cluster.
  [[nodiscard]] bool is_released(unsigned slot, const Instruction& i) const {
    const Instruction* const before = last_[slot];
    return i.kind == InstructionKind::cluster_arrive && before != nullptr &&
           before->kind == InstructionKind::fence && before->mem.releases() &&
           before->mem.scope == Scope::cluster && source_->where(*before) == source_->where(i);
  }

  std::unique_ptr<InstructionSource> source_;
  ExecutionRecorder& recorder_;
  unsigned sm_;
  Dim3 grid_;
  std::vector<ExecutionRecorder::Warp> warps_;
  std::vector<const Instruction*> last_;  ///< that each slot's warp has executed
};

}  // namespace warpline
