#pragma once

#include <string_view>

#include "rtl_models/sim/command.h"

namespace warpline {

/// What files call a command.
[[nodiscard]] constexpr std::string_view name_of(Command c) {
  constexpr std::string_view kNames[] = {"read", "write", "atomic", "reduce", "maintain", "control"};
  return kNames[static_cast<unsigned>(c)];
}

}  // namespace warpline
