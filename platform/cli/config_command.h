#pragma once

#include <string>
#include <vector>

namespace warpline {

/// `warpline config list`: one line for each preset.
int list_presets();
/// `warpline config show NAME`: a preset with its comments, or any GPU, changed by `sets`, with all its keys.
int show_gpu(const std::string& name, const std::vector<std::string>& sets);
/// `warpline config keys`: a page of Markdown with every key, its meaning, its value in each preset and its
/// rules.
int list_keys();
/// `warpline config check FILE`: every fault, and what is allowed but unwise.
int check_gpu(const std::string& file, const std::vector<std::string>& sets);

}  // namespace warpline
