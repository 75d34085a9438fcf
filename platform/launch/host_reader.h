#pragma once

#include <utility>
#include <vector>

#include "platform/launch/launch_file.h"

namespace warpline {

/// The `host` keys of launches, with the numbers of these.
using HostSteps = std::vector<std::pair<std::size_t, const Member*>>;

/// Reads what a host does with devices into `out`, whose buffers and launches are all known. `registers`: the
/// [[register]] tables, or null. Arguments that are bus addresses of buffers which devices do not reach are
/// faults, too.
void read_host(const Document& document, const HostSteps& steps, const Member* registers, LaunchFile& out,
               Diagnostics& faults);

}  // namespace warpline
