#pragma once

#include <map>
#include <string>
#include <vector>

namespace warpline {

/// By the path of each key ("gpu.l2.slices"), the rules that values of it must obey.
[[nodiscard]] std::map<std::string, std::vector<std::string>> config_rules();

/// A page of Markdown: of every key the meaning, the value in each preset, and the rules that it must obey.
[[nodiscard]] std::string config_reference();

}  // namespace warpline
