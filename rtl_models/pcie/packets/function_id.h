#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// Bus (bits 15:8), device (7:3) and function number (2:0): who made a request, or is to answer it.
using FunctionId = Strong<struct FunctionIdTag, std::uint16_t>;
constexpr FunctionId function_id(unsigned bus, unsigned device, unsigned function) {
  return FunctionId{static_cast<std::uint16_t>(bus << 8U | device << 3U | function)};
}

/// Base address registers of a function.
inline constexpr unsigned kBars = 6;

/// How a request that is to be answered ended, for whoever made it.
enum class TlpOutcome : std::uint8_t { done, unsupported_request, completer_abort, poisoned, timeout };

}  // namespace warpline
