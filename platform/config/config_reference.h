#pragma once

#include <string>

namespace warpline {

/// A page of Markdown: of every key the meaning, the value in each preset, and the rules that it must obey.
[[nodiscard]] std::string config_reference();

}  // namespace warpline
