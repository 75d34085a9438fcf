#pragma once

#include <string>
#include <vector>

#include "rtl_models/sim/in_flight.h"

namespace warpline {

/// A JSON list of strings.
[[nodiscard]] std::string json_list(const std::vector<std::string>& texts);

/// Appends the members `in_flight`, `waits` and `circle` of a JSON object, with a newline at the end: each
/// request in flight (`made` is null where no SM made it), each other wait, and who stands in the circle of
/// waits of a dead model.
void append_standstill(std::string& out, const Standstill& standstill);

}  // namespace warpline
