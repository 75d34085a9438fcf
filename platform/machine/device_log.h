#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpline {

class PcieSystem;

/// What arrived at the BARs of a system's devices, device by device, oldest first: a line of text each, or an
/// array of JSON. `begins`: of device i, the number of its first access that counts; 0 where there is no
/// element. Of what its log no longer keeps, a line says how many they were.
[[nodiscard]] std::string device_log(const PcieSystem& system, const std::vector<std::uint64_t>& begins,
                                     bool json);

}  // namespace warpline
