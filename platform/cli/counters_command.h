#pragma once

#include <string>
#include <vector>

namespace warpline {

/// `warpline counters`: a page of Markdown with the path, unit and meaning of every counter of a GPU.
int list_counters(const std::string& gpu, const std::vector<std::string>& sets);

}  // namespace warpline
