#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace warpline {

/// What a memory subsystem called `name` has done, from its counters by path, as a table for people: at most
/// 80 columns, a row per level.
[[nodiscard]] std::string subsystem_report(const std::string& name,
                                           const std::map<std::string, std::uint64_t>& counters);

}  // namespace warpline
