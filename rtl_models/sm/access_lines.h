#pragma once

#include "rtl_models/base/types.h"
#include "rtl_models/sm/coalescer.h"
#include "rtl_models/sm/resolved_access.h"
#include "rtl_models/sm/texel_lines.h"

namespace warpline {

/// The lines of a resolved access, in the order in which they are asked for: those of global memory, of the
/// constant banks, of local memory, of other CTAs' shared memory, and of one image after the other. What is
/// in the own CTA's shared memory has none.
class AccessLines {
 public:
  /// Begins with the first line of `access`, which outlives this.
  void start(const ResolvedAccess& access);
  /// No line is left.
  void clear() {
    global_ = constant_ = local_ = remote_ = image_ = 0;
    coalescer_.clear();
    texels_.clear();
  }
  /// Whether a line is left.
  [[nodiscard]] bool any() {
    if (!coalescer_.done()) return true;
    return (global_ | constant_ | local_ | remote_ | image_) != 0 ? next_space() : !texels_.done();
  }
  /// The next line. Pre: any() has said that there is one.
  [[nodiscard]] LineAccess next() { return coalescer_.done() ? texels_.next() : coalescer_.next(); }
  /// Where in the line that came last its lanes lie. Pre: it is not of a texture.
  [[nodiscard]] const Coalescer& coalescer() const { return coalescer_; }

 private:
  bool next_space();
  const ResolvedAccess* access_ = nullptr;
  LaneMask global_ = 0, constant_ = 0, local_ = 0, remote_ = 0,
           image_ = 0;  ///< lanes that the coalescer has not had yet
  Coalescer coalescer_;
  TexelLines texels_;
};

}  // namespace warpline
