#include "sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace warpline::test {
namespace fs = std::filesystem;
namespace {

/// One level per entry; a folder may include the levels below its own, and of its own level only itself.
const std::vector<std::vector<std::string>> kLevels = {
    {"base"},
    {"mmio", "isa"},
    {"fabric", "regs", "regs_c"},
    {"cache", "tlp"},
    {"sm", "l1_lg", "texture", "constant", "crossbar", "l2", "dram", "pcie", "peer"},
    {"document"},
    {"config"},
    {"programs", "explain"},
    {"gpu"},
    {"litmus", "host"},
    {"cli"}};

}  // namespace

std::vector<Line> lines_below(const std::string& folder) {
  std::vector<Line> lines;
  const fs::path top = WARPLINE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
    const std::string suffix = entry.path().extension().string();
    if (suffix != ".h" && suffix != ".cpp") continue;
    std::ifstream in(entry.path());
    const std::string file = fs::relative(entry.path(), top).string();
    unsigned number = 0;
    for (std::string text; std::getline(in, text);) lines.push_back({file, ++number, text});
  }
  return lines;
}

std::string included_folder(const Line& line) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*[<\"]warpline/([^/]+)/.*");
  std::smatch match;
  return std::regex_match(line.text, match, kInclude) ? match[1].str() : "";
}

std::vector<std::string> may_include(const std::string& folder) {
  std::vector<std::string> allowed;
  for (const auto& level : kLevels) {
    if (std::find(level.begin(), level.end(), folder) != level.end()) {
      allowed.push_back(folder);
      return allowed;
    }
    allowed.insert(allowed.end(), level.begin(), level.end());
  }
  return {};
}

std::vector<std::string> folders() {
  std::vector<std::string> all;
  for (const auto& level : kLevels) all.insert(all.end(), level.begin(), level.end());
  return all;
}

}  // namespace warpline::test
