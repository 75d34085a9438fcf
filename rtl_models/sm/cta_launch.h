#pragma once

#include "rtl_models/base/types.h"

namespace warpline {

/// The work distributor tells an SM to start a CTA.
struct CtaLaunch {
  Dim3 cta;
  [[nodiscard]] unsigned beats(unsigned /*width*/) const { return 1; }
};

/// An SM has finished a CTA.
struct CtaDone {
  [[nodiscard]] unsigned beats(unsigned /*width*/) const { return 1; }
};

}  // namespace warpline
