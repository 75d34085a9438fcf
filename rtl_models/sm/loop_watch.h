#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/resident_warp.h"

namespace warpline {

/// A program that is watched for warps which repeat themselves, and is otherwise the one that it wraps.
///
/// Such a warp has come to the same instruction twice in the same state, with nothing in flight, and in
/// between only computed and looked at memory that shows what is written to it. If nobody changes memory, it
/// does so for ever. So a machine stands still in which every warp either repeats itself or waits for
/// another one, once nothing is in flight that writes.
class LoopWatch final : public InstructionSource {
 public:
  /// What a warp looked at last.
  struct Look {
    const Instruction* instruction = nullptr;  ///< null: at nothing
    std::uint64_t address = 0;                 ///< of its first lane
  };
  /// `warps`: what the warp slots have under way, which outlives it.
  LoopWatch(std::unique_ptr<InstructionSource> source, const std::vector<ResidentWarp>& warps)
      : source_(std::move(source)), warps_(warps), tracks_(warps.size()) {
    source_->keep_in_step(true);
  }
  /// The program itself; no calls follow.
  [[nodiscard]] std::unique_ptr<InstructionSource> take() {
    source_->keep_in_step(false);
    return std::move(source_);
  }
  /// Begins to look for repetitions, now that nothing in flight writes.
  void arm();
  /// As many states as at first may be compared again. The watch goes on.
  void renew();
  /// Whether a warp has done something that may have changed what others see, or that depends on the time.
  [[nodiscard]] bool changed() const { return changed_; }
  [[nodiscard]] bool repeats(unsigned slot) const { return tracks_[slot].repeats; }
  /// Whether the warp has executed anything since arm().
  [[nodiscard]] bool moved(unsigned slot) const { return tracks_[slot].moved; }
  [[nodiscard]] const Look& look(unsigned slot) const { return tracks_[slot].look; }

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    changed_ = true;
    source_->begin_warp(slot, cta, warp_in_cta, threads);
  }
  [[nodiscard]] WarpState state(unsigned slot) const override { return source_->state(slot); }
  [[nodiscard]] const Instruction& next(unsigned slot) override { return source_->next(slot); }
  [[nodiscard]] const Instruction* peek(unsigned slot) override { return source_->peek(slot); }
  void execute(unsigned slot, Issue& issue) override;
  unsigned run_ahead(unsigned slot, Issue& issue, unsigned most, std::uint64_t& threads) override;
  void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                bool with_data) override;
  void release_barrier(unsigned slot, std::uint32_t id) override {
    changed_ = true;
    source_->release_barrier(slot, id);
  }
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return source_->live_lanes(slot); }
  void kill(unsigned slot) override {
    changed_ = true;
    source_->kill(slot);
  }
  [[nodiscard]] std::string where(const Instruction& i) const override { return source_->where(i); }
  [[nodiscard]] std::optional<std::uint64_t> digest(unsigned slot) const override {
    return source_->digest(slot);
  }

 private:
  static constexpr unsigned kComparisons = 64;
  /// What is known of a warp: the state to which later ones are compared, which is taken anew after twice as
  /// many instructions each time, so that it lies within the loop some day.
  struct Track {
    std::uint64_t digest = 0;
    std::uint32_t pc = 0;
    bool taken = false, repeats = false, moved = false;
    unsigned comparisons = kComparisons;  ///< left
    std::uint64_t steps = 0, most_steps = 1;
    Look look;
  };
  /// A compare-and-swap that has not been answered.
  struct Swap {
    const MemoryAccess* access = nullptr;
    std::array<std::uint64_t, kWarpLanes> expected{};
  };
  void compare(unsigned slot, std::uint32_t pc);
  void note_access(unsigned slot, const Instruction& i, const MemoryAccess& access);

  std::unique_ptr<InstructionSource> source_;
  const std::vector<ResidentWarp>& warps_;
  std::vector<Track> tracks_;
  std::vector<Swap> swaps_;
  bool armed_ = false, changed_ = false;
};

}  // namespace warpline
