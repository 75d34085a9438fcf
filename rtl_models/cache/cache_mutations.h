#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of every cache that fetches lines.
enum class CacheMutation : std::uint8_t {
  dead_fill_installs,         ///< R1: a fill marked dead is installed
  invalidation_spares_fills,  ///< R1: an acquire or proxy fence drops lines, and no fills
};

}  // namespace warpline
