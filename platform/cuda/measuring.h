#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "rtl_models/base/problem.h"

namespace warpline::cuda {

/// Which grids of a program are timed. The others run functionally or loosely timed, which is faster, and
/// their times are estimates.
class Measuring {
 public:
  /// All, or (`fast_forward`) none but those that include() names.
  explicit Measuring(bool fast_forward = false) : all_(!fast_forward) {}
  /// "KERNEL" or "KERNEL:N": the first grids (N of them; 1) of each kernel whose name begins so, as PTX or as
  /// C++ has it; all others are not timed then. A fault: N is no number from 1 on.
  [[nodiscard]] Diagnostics include(const std::string& text);
  /// Whether the grid of this kernel that comes next is timed. Counts it.
  [[nodiscard]] bool takes(const std::string& kernel);

 private:
  bool all_;
  std::map<std::string, std::uint64_t> left_;    ///< by what names begin with: how many of each kernel
  std::map<std::string, std::uint64_t> counts_;  ///< grids there were, by kernel
};

}  // namespace warpline::cuda
