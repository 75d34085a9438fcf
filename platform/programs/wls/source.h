#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/programs/wls/warp.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::wls {

/// One launch of a program, as all SMs share it.
struct LaunchedProgram {
  const Program* program = nullptr;
  KernelInfo info;
  std::vector<Op> ops;               ///< the program's, addresses filled in
  Inspection* inspection = nullptr;  ///< gets the registers that the first CTA leaves
};

/// Runs the warps of a program that are resident on one SM.
class WlsSource final : public InstructionSource {
 public:
  /// Pre: `launch` outlives it.
  WlsSource(const LaunchedProgram& launch, unsigned sm, unsigned slots);

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override;
  [[nodiscard]] WarpState state(unsigned slot) const override;
  [[nodiscard]] const Instruction& next(unsigned slot) override;
  void execute(unsigned slot, Issue& issue) override;
  void complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                bool with_data) override;
  void release_barrier(unsigned slot, std::uint32_t id) override;
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override;
  void kill(unsigned slot) override;
  [[nodiscard]] std::string where(const Instruction& instruction) const override;

 private:
  void keep_registers(const Warp& warp, LaneMask lanes);

  const LaunchedProgram& launch_;
  const Program& program_;
  unsigned sm_;
  std::vector<std::unique_ptr<Warp>> warps_;  ///< of each slot, made when it is first used
};

}  // namespace warpline::wls
