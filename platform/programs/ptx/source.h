#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/programs/ptx/program.h"
#include "platform/programs/ptx/warp.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::ptx {

/// One launch of a program, as all SMs share it.
struct LaunchedProgram {
  const Program* program = nullptr;
  KernelInfo info;
  LaunchAttributes attributes;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes = 0;  ///< of a CTA, without what is reserved
  std::vector<std::byte> pool;     ///< the program's constants, addresses filled in
  unsigned sms = 1;                ///< SMs that run it
};

/// Runs the warps of a PTX kernel that are resident on one SM.
class PtxSource final : public InstructionSource {
 public:
  /// Pre: `launch` outlives it.
  PtxSource(const LaunchedProgram& launch, const SmSite& site);

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override;
  [[nodiscard]] WarpState state(unsigned slot) const override;
  [[nodiscard]] const Instruction& next(unsigned slot) override;
  [[nodiscard]] const Instruction* peek(unsigned slot) override;
  void execute(unsigned slot, Issue& issue) override;
  void keep_ahead_in(unsigned slot, ComputedAhead* ahead) override;
  unsigned run_ahead(unsigned slot, Issue& issue, unsigned most, std::uint64_t& threads) override;
  void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                bool with_data) override;
  void release_barrier(unsigned slot, std::uint32_t id) override;
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override;
  void kill(unsigned slot) override;
  [[nodiscard]] std::string where(const Instruction& instruction) const override;
  [[nodiscard]] std::optional<std::uint64_t> digest(unsigned slot) const override;
  void keep_in_step(bool in_step) override { in_step_ = in_step; }

 private:
  /// As many as are carried out at a time: registers then stay in the host's caches from one to the next.
  static constexpr unsigned kAhead = 32;
  /// Votes of a bar.red in progress.
  struct Tally {
    std::uint32_t arrived = 0;
    std::uint32_t yes = 0;
    std::uint32_t waiting = 0;
  };
  struct Slot {
    std::unique_ptr<Warp> warp;  ///< made when the slot is first used
    std::uint64_t cta = 0;
    /// Memory operations that have yet to write registers.
    unsigned pending = 0;
    ComputedAhead own;
    ComputedAhead* ahead = &own;  ///< of `done`
    std::array<ComputedAhead::Step, kAhead> done{};
  };
  void go_ahead(Slot& s);
  [[nodiscard]] Frame frame(unsigned slot, LaneMask active) const;
  void finish_reduction(unsigned slot, const Op& op, LaneMask lanes, Tally& tally);

  const LaunchedProgram& launch_;
  const Program& program_;
  SmSite site_;
  std::vector<Slot> slots_;
  bool in_step_ = false;                                    ///< nothing is carried out before it is issued
  std::map<std::uint64_t, std::array<Tally, 16>> tallies_;  ///< by CTA
};

}  // namespace warpline::ptx
