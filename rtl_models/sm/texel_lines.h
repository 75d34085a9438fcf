#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/sm/coalescer.h"
#include "rtl_models/sm/resolved_access.h"

namespace warpline {

/// Splits the texels of a warp's texture load into lines: of one image after the other, one LineAccess per
/// distinct line, in the order of the lowest lane that reads it, and of a lane's texels in their plan. A line
/// that several of a lane's texels lie in is asked for once.
class TexelLines {
 public:
  /// Starts on `access`, a texture load, which outlives this.
  void start(const ResolvedAccess& access);
  /// The next line. Pre: not done().
  [[nodiscard]] LineAccess next();
  [[nodiscard]] bool done() const { return lanes_ == 0; }
  /// Forgets what it was started on: done().
  void clear() { lanes_ = of_image_ = 0; }

 private:
  const ResolvedAccess* access_ = nullptr;
  LaneMask lanes_ = 0;                            ///< with texels left
  LaneMask of_image_ = 0;                         ///< those of them whose image is being read
  std::array<std::uint16_t, kWarpLanes> left_{};  ///< bit k: texel k has not been had
};

}  // namespace warpline
