#include "tests/structure/sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace warpline::test {
namespace fs = std::filesystem;

std::vector<Line> lines_below(const std::string& folder) {
  std::vector<Line> lines;
  const fs::path top = WARPLINE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
    const std::string suffix = entry.path().extension().string();
    if (suffix != ".h" && suffix != ".cpp" && suffix != ".c") continue;
    std::ifstream in(entry.path());
    const std::string file = fs::relative(entry.path(), top).string();
    unsigned number = 0;
    for (std::string text; std::getline(in, text);) lines.push_back({file, ++number, text});
  }
  return lines;
}

std::vector<Include> includes_below(const std::string& folder) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*\"([^\"]+)\".*");
  const fs::path top = WARPLINE_SOURCE_DIR;
  std::vector<Include> out;
  for (const Line& line : lines_below(folder)) {
    std::smatch match;
    if (!std::regex_match(line.text, match, kInclude)) continue;
    Include i{line, fs::path(line.file).parent_path().string(), match[1].str(), {}};
    const bool names_own = i.from.rfind("sw/", 0) == 0;
    if (fs::exists(top / i.header)) {
      i.to = fs::path(i.header).parent_path().string();
    } else if (names_own && fs::exists(top / i.from / i.header)) {
      i.to = i.from;
    }
    out.push_back(i);
  }
  return out;
}

bool is_made(const std::string& header) {
  static const std::regex kTable(
      "(.*/registers/[a-z_]+/|.*/registers/)[a-z_]+\\.h|wl_[a-z_]+_regs\\.h|[a-z_]+_names\\.inc");
  return std::regex_match(header, kTable);
}

const std::vector<std::vector<std::string>>& levels() {
  static const std::vector<std::vector<std::string>> kLevels = {
      {"rtl_models/base"},
      {"rtl_models/isa", "rtl_models/document", "rtl_models/registers"},
      {"rtl_models/sim", "rtl_models/registers/generator"},
      {"rtl_models/tlm", "rtl_models/pcie/packets", "rtl_models/translation"},
      {"rtl_models/tlm/pins", "rtl_models/cache", "rtl_models/bulk_copy", "rtl_models/pcie/endpoint",
       "rtl_models/pcie/hops"},
      {"rtl_models/sm", "rtl_models/sm_network", "rtl_models/gpu_switch", "rtl_models/l1_lg",
       "rtl_models/crossbar", "rtl_models/l2", "rtl_models/dram", "rtl_models/pcie/gpu_link",
       "rtl_models/pcie/root_complex", "rtl_models/pcie/host_bridge", "rtl_models/queue_device",
       "rtl_models/nvme"},
      {"sw/driver"},
      {"sw/driver/linux", "sw/guest"},
      {"platform/config", "platform/programs", "platform/search", "platform/vfio_user"},
      {"platform/programs/generators", "platform/programs/ptx_syntax", "platform/programs/sass_trace"},
      {"platform/programs/ptx/device_library", "platform/programs/ptx_legality"},
      {"platform/programs/ptx", "platform/programs/wls"},
      {"platform/machine", "platform/explain"},
      {"platform/observe", "platform/report", "platform/consistency/record"},
      {"platform/consistency", "platform/systemc", "platform/series", "platform/metrics"},
      {"platform/host"},
      {"platform/launch"},
      {"platform/mpi", "platform/study", "platform/sweep", "platform/profile", "platform/live",
       "platform/serve"},
      {"platform/cuda", "platform/sweep_report"},
      {"platform/cuda/abi", "platform/mpi/library", "platform/cli"},
      {"platform/cuda/libraries"}};
  return kLevels;
}

int level_of(const std::string& folder) {
  for (std::size_t i = 0; i < levels().size(); ++i) {
    const std::vector<std::string>& level = levels()[i];
    if (std::find(level.begin(), level.end(), folder) != level.end()) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace warpline::test
