#pragma once

#include <vector>

#include "platform/study/quantity.h"

namespace warpline::study {

/// Those of the network between SMs and L2 slices, among quantities(): latency and bandwidth of SMs that are
/// chosen by their number. SM n is taken to be in TPC n / 2, and TPC t in GPC t mod `gpcs`, as V100, A100 and
/// H100 number them.
[[nodiscard]] std::vector<Quantity> network_quantities();

}  // namespace warpline::study
