#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/sm/kernel_info.h"

namespace warpline::ptx {

/// Who a warp is.
struct WarpIdentity {
  const KernelInfo* kernel = nullptr;
  std::uint32_t dynamic_shared_bytes = 0;
  Dim3 cta;
  unsigned warp = 0;  ///< in its CTA
  unsigned sm = 0;
  unsigned sms = 1;
};

/// A special register whose value a warp keeps from its start to its end (PTX ISA, "Special Registers").
struct SpecialRegister {
  std::string_view name;
  std::uint64_t (*value)(const WarpIdentity&, unsigned lane);
};
/// Null where `name` is none.
[[nodiscard]] const SpecialRegister* special_register(std::string_view name);

/// Special registers that count time: read by `mov` only. The global timer counts nanoseconds on
/// silicon; here it counts SM cycles, as one cycle per nanosecond.
enum class ClockRegister : std::uint8_t { low, high, full };
[[nodiscard]] std::optional<ClockRegister> clock_register(std::string_view name);

/// Names of all of them, for suggestions.
[[nodiscard]] std::vector<std::string> special_register_names();

}  // namespace warpline::ptx
