#pragma once

#include <cstddef>
#include <string>

#include "platform/profile/profile_file.h"
#include "rtl_models/base/problem.h"

namespace warpline {

struct ProfileViewOptions {
  std::string kernel;      ///< pattern of names (Glob); empty: all
  std::size_t lines = 10;  ///< of each kernel, the hottest
  bool source = false;     ///< every line, in the order of the program
  bool cuda = false;       ///< lines of CUDA instead of PTX
};

/// For people: for each kernel what its warps did, then its lines. Faults: no kernel has such a name; of
/// `cuda`, no line is known to be of CUDA.
[[nodiscard]] Result<std::string> profile_view(const ProfileFile& profile, const ProfileViewOptions& options);

}  // namespace warpline
