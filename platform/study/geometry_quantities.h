#pragma once

#include <vector>

#include "platform/study/quantity.h"

namespace warpline::study {

/// What a cache is like, told from how long the steps of chases take: its size, its lines, and how much a
/// miss fetches; and how far its farthest hits are.
[[nodiscard]] std::vector<Quantity> geometry_quantities();

}  // namespace warpline::study
