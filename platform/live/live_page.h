#pragma once

#include <string>

namespace warpline::live {

/// The page that shows a run, complete: it asks for nothing but what LiveServer answers.
[[nodiscard]] std::string live_page();
/// The Content-Security-Policy that it is sent with: its own style and script, and questions to where it came
/// from.
[[nodiscard]] std::string live_page_policy();

}  // namespace warpline::live
