#include "platform/config/namespace_files.h"

#include <set>

namespace warpline {

std::string open_namespace_file(const std::string& path, RandomAccessFile& file) {
  if (std::string why = file.open(path); !why.empty()) return why;
  if (file.size() == 0 || file.size() % 4096 != 0)
    return path + ": has " + std::to_string(file.size()) +
           " bytes: a namespace has a multiple of 4096, and not none";
  return {};
}

Problems nvme_file_problems(const NvmeParameters& parameters, const std::string& path) {
  Rules rules(path);
  std::set<std::string> seen;
  for (const std::string& name : parameters.file_list()) {
    if (name.empty()) continue;
    rules.need(seen.insert(name).second, "files", name + ": is named twice");
    RandomAccessFile file;
    if (const std::string why = open_namespace_file(name, file); !why.empty())
      rules.need(false, "files", why);
  }
  return rules.take();
}

}  // namespace warpline
