#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of the crossbar.
enum class CrossbarMutation : std::uint8_t {
  peer_lines_spread,  ///< exactly once: a peer's lines take several ways to it, and so change their order
};

}  // namespace warpline
