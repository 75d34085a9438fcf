#include "rtl_models/document/file_identity.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>

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

namespace {

/// Goes along a path part by part. What exists is left to the system, links and all.
class Walk {
 public:
  explicit Walk(const fs::path& path) : rest_(path.begin(), path.end()) {
    if (path.is_absolute()) place_.path = "/";
  }

  FilePlace end() {
    while (!rest_.empty() && links_ <= kMostLinks) {
      const fs::path part = rest_.front();
      rest_.pop_front();
      names_folder_ = part.empty() || part == "." || part == "..";
      if (part == "..") {
        leave();
      } else if (!names_folder_ && part != "/") {
        enter(part);
      }
    }
    if (links_ > kMostLinks) return {};
    if (place_.path.empty()) place_.path = ".";
    if (names_folder_) place_.path /= "";
    return std::move(place_);
  }

 private:
  void leave() {
    if (depth_ == 0) {
      place_.path /= "..";
    } else {
      --depth_;
      place_.path = place_.path.parent_path();
    }
  }
  void enter(const fs::path& part) {
    const fs::path next = place_.path / part;
    const bool is_last = rest_.empty();
    struct stat found = {};
    // Where the system has another reason than that nothing is there, it will say so to who opens the path.
    const bool is_there = depth_ == 0 && (::stat(next.c_str(), &found) == 0 || errno != ENOENT);
    if (depth_ == 0 && (is_last || !is_there)) {
      const std::string text = is_open_file(next.string()) ? std::string{} : link_text(next);
      if (!text.empty()) return follow(text);
    }
    place_.path = next;
    if (is_there) return;
    ++depth_;
    if (!is_last) place_.missing.push_back(next);
  }
  void follow(const fs::path& link) {
    ++links_;
    if (link.is_absolute()) place_.path = "/";
    rest_.insert(rest_.begin(), link.begin(), link.end());
  }

  std::deque<fs::path> rest_;
  FilePlace place_;
  std::size_t depth_ = 0;  ///< so many parts at the end of the place are not there
  int links_ = 0;
  bool names_folder_ = false;
};

/// `path`: as a place has it. The inode, or what is missing below the inode of the last folder that exists.
std::string text_of_place(const fs::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) == 0) return S_ISREG(found.st_mode) ? text_of(found) : std::string{};
  fs::path at = path, rest;
  while (!at.empty()) {
    rest = rest.empty() ? at.filename() : at.filename() / rest;
    const fs::path folder = folder_of(at);
    if (::stat(folder.c_str(), &found) == 0) return text_of(found) + "/" + rest.string();
    if (folder == at) break;
    at = folder;
  }
  return {};
}

}  // namespace

FilePlace file_place(const std::string& path) {
  return Walk(path).end();
}

FileIdentity identity_of(const std::string& path) {
  const FilePlace place = file_place(path);
  FileIdentity identity{text_of_place(place.path), {}};
  for (const fs::path& folder : place.missing) identity.folders.push_back(text_of_place(folder));
  return identity;
}

std::string identity_of(int file) {
  struct stat found = {};
  return ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) ? text_of(found) : std::string{};
}

}  // namespace warpline
