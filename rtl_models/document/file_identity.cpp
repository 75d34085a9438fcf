#include "rtl_models/document/file_identity.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace warpline {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as Linux follows

/// What a symbolic link says; empty where `path` is none.
std::string link_text(const fs::path& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t n = ::readlink(path.c_str(), text.data(), text.size());
  return n <= 0 ? std::string{} : std::string(text.data(), static_cast<std::size_t>(n));
}

std::string text_of(const struct stat& file) {
  return std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
}

}  // namespace

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_open_file(const std::string& path) {
  const fs::path p(path);
  struct statfs system = {};
  if (::statfs(folder_of(p).c_str(), &system) != 0 ||
      static_cast<unsigned long>(system.f_type) != PROC_SUPER_MAGIC)
    return false;
  return !link_text(p).empty();
}

std::string links_followed(const std::string& path) {
  fs::path at(path);
  for (int n = 0; n <= kMostLinks; ++n) {
    const std::string text = is_open_file(at.string()) ? std::string{} : link_text(at);
    if (text.empty()) return at.string();
    at = folder_of(at) / text;  // an absolute text replaces the folder
  }
  return {};
}

std::string identity_of(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) == 0) return S_ISREG(found.st_mode) ? text_of(found) : std::string{};
  // A name in the last folder that exists.
  fs::path at = links_followed(path), rest;
  while (!at.empty()) {
    rest = rest.empty() ? at.filename() : at.filename() / rest;
    const fs::path folder = folder_of(at);
    if (::stat(folder.c_str(), &found) == 0) return text_of(found) + "/" + rest.lexically_normal().string();
    if (folder == at) break;
    at = folder;
  }
  return {};
}

std::string identity_of(int file) {
  struct stat found = {};
  return ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) ? text_of(found) : std::string{};
}

}  // namespace warpline
