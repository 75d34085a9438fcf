#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::ptx {

/// Special registers whose value a warp keeps from its start to its end (PTX ISA, "Special
/// Registers"). Clusters hold one CTA each. %warpid is the warp's number in its CTA.
enum class SpecialRegister : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  zero,
  one,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size,
};
[[nodiscard]] std::optional<SpecialRegister> special_register(std::string_view name);

/// Special registers that count time: read by `mov` only. The global timer counts nanoseconds on
/// silicon; here it counts SM cycles, as one cycle per nanosecond.
enum class ClockRegister : std::uint8_t { low, high, full };
[[nodiscard]] std::optional<ClockRegister> clock_register(std::string_view name);

/// Names of all of them, for suggestions.
[[nodiscard]] std::vector<std::string> special_register_names();

}  // namespace warpline::ptx
