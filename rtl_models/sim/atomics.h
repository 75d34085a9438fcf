#pragma once

#include <cstdint>

#include "rtl_models/sim/request.h"

namespace warpline {

/// The atomics unit: performs the lanes in order, each one's elements in order, on the 128 bytes at `line`,
/// and answers their old values. Pre: offsets and types that the line has room for.
void perform_atomics(AtomicBlock& block, std::uint8_t* line);
/// Performs element `element` of the block's lane `i` only.
void perform_element(AtomicBlock& block, unsigned i, unsigned element, std::uint8_t* line);
/// Bytes of the line that the lanes touch.
[[nodiscard]] ByteMask atomic_bytes(const AtomicBlock& block);

}  // namespace warpline
