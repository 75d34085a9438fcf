#pragma once

#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/machine/netlist.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// A fault for each pattern that fits no hop of a platform, its GPUs' (see Hop::matches) or that of a link of
/// PCI Express (LinkHop), with what was probably meant, or the hops there are. `option`: who gave the
/// patterns, for the message. Pre: config.problems() is empty.
[[nodiscard]] Diagnostics unmatched_hops(const std::string& option, const std::vector<std::string>& patterns,
                                         const GpuConfig& config);

/// Likewise, and a fault for each pattern that fits a hop of `netlist` at which not both ends are ours: only
/// a hop between two blocks of the netlist can be opened as pins.
[[nodiscard]] Diagnostics unopenable_hops(const std::string& option, const std::vector<std::string>& patterns,
                                          Netlist& netlist);

}  // namespace warpline
