#include "platform/consistency/record/recording_source.h"

namespace warpline {

void RecordingSource::begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) {
  const std::uint64_t number = cta.x + std::uint64_t{grid_.x} * (cta.y + std::uint64_t{grid_.y} * cta.z);
  warps_[slot] = {sm_, slot, cta, number, warp_in_cta * kWarpLanes};
  source_->begin_warp(slot, cta, warp_in_cta, threads);
}

void RecordingSource::execute(unsigned slot, Issue& issue) {
  const Instruction& i = source_->next(slot);
  source_->execute(slot, issue);
  switch (i.kind) {
    case InstructionKind::memory: recorder_.access(warps_[slot], i, *source_, *issue.access); break;
    case InstructionKind::fence: recorder_.fence(warps_[slot], i, *source_, issue.active); break;
    case InstructionKind::barrier: recorder_.arrive(warps_[slot], i, *source_, issue); break;
    default: break;
  }
}

void RecordingSource::complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                               bool with_data) {
  recorder_.answer(access);
  source_->complete(slot, instruction, access, with_data);
}

void RecordingSource::release_barrier(unsigned slot, std::uint32_t id) {
  recorder_.release(warps_[slot], id);
  source_->release_barrier(slot, id);
}

}  // namespace warpline
