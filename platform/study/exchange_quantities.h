#pragma once

#include <vector>

#include "platform/study/quantity.h"

namespace warpline::study {

/// How fast blocks exchange words: by signals in global memory, and by the shared memory of a cluster.
[[nodiscard]] std::vector<Quantity> exchange_quantities();

}  // namespace warpline::study
