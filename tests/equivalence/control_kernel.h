#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::test {

/// What a thread block of random cache control does: accesses of global and local memory and constants, every
/// CCTL and CCTLL, fences, calls, and what the call-return stack has for them, with jumps through code that
/// is fetched.
struct ControlStep {
  Instruction instruction;
  std::function<void(MemoryAccess&)> fill;
  std::uint32_t depth = 0;  ///< of set_stack
};
using ControlScript = std::vector<ControlStep>;

inline constexpr std::uint32_t kControlLocalBytes = 256;
inline constexpr std::uint64_t kControlBytes =
    16384;  ///< of global memory, from the address that the script is given

/// A script of `steps` steps on global memory at `base`.
[[nodiscard]] ControlScript random_control(Random& random, unsigned steps, std::uint64_t base);

/// One CTA for each SM, each warp of which runs a script of its own. Notes what loads and returns got, as a
/// hash.
class ControlKernel final : public Kernel {
 public:
  ControlKernel(unsigned sms, std::vector<ControlScript> scripts);
  [[nodiscard]] const KernelInfo& info() const override { return info_; }
  [[nodiscard]] std::unique_ptr<InstructionSource> make_source(const SmSite& site) override;
  /// Of each SM.
  [[nodiscard]] const std::deque<std::uint64_t>& seen() const { return seen_; }

 private:
  KernelInfo info_;
  std::vector<ControlScript> scripts_;
  std::deque<std::uint64_t> seen_;
};

}  // namespace warpline::test
