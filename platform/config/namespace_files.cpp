#include "platform/config/namespace_files.h"

#include <filesystem>
#include <system_error>
#include <vector>

namespace warpline {
namespace {

/// Also by another path.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  return a == b || std::filesystem::equivalent(a, b, unknown);
}

}  // namespace

std::string open_namespace_file(const std::string& path, RandomAccessFile& file) {
  if (std::string why = file.open(path); !why.empty()) return why;
  if (file.size() == 0 || file.size() % 4096 != 0)
    return path + ": has " + std::to_string(file.size()) +
           " bytes: a namespace has a multiple of 4096, and not none";
  return {};
}

Problems nvme_file_problems(const NvmeParameters& parameters, const std::string& path) {
  Rules rules(path);
  std::vector<std::string> seen;
  for (const std::string& name : parameters.file_list()) {
    if (name.empty()) continue;
    for (const std::string& other : seen) {
      if (!are_one_file(name, other)) continue;
      rules.need(false, "files", name + ": is named twice" + (name == other ? "" : ", also as " + other));
      break;
    }
    seen.push_back(name);
    RandomAccessFile file;
    if (const std::string why = open_namespace_file(name, file); !why.empty())
      rules.need(false, "files", why);
  }
  return rules.take();
}

}  // namespace warpline
