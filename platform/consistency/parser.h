#pragma once

#include <string>
#include <string_view>

#include "platform/consistency/test.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline::litmus {

/// Parses a litmus test (its format: tests/litmus/README.md); `file` names it in diagnostics. All faults at
/// once.
WARPLINE_PUBLIC [[nodiscard]] Result<Test> parse(std::string_view text, const std::string& file);

}  // namespace warpline::litmus
