#include "rtl_models/document/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// A name under which the system knows an open file that has none.
std::string name_of(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace

OutputFile::~OutputFile() {
  give_up();
}

void OutputFile::give_up() {
  if (file_ < 0) return;
  ::close(file_);
  if (named_) ::unlink(temporary_.c_str());
  file_ = -1;
}

std::string OutputFile::open(const std::string& path) {
  WARPLINE_EXPECT(file_ < 0, "a file is begun once");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path + ": is a folder, not a file";
  path_ = path;
  temporary_ = path + ".part-" + std::to_string(::getpid());
  named_ = !open_nameless();
  if (named_) file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) return path + ": cannot be created: " + std::strerror(errno);
  return {};
}

bool OutputFile::open_nameless() {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  file_ = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (file_ < 0) return false;
  if (::access(name_of(file_).c_str(), F_OK) == 0) return true;
  ::close(file_);  // it could never be given a name
  return false;
}

/// A link replaces nothing, so the complete file first gets the name from which it can be renamed.
bool OutputFile::give_name() {
  ::unlink(temporary_.c_str());  // of a process that had our number
  named_ = ::linkat(AT_FDCWD, name_of(file_).c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return named_;
}

void OutputFile::flush() {
  put(buffer_);
  buffer_.clear();
}

void OutputFile::put(std::string_view rest) {
  while (!rest.empty() && failure_.empty()) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      failure_ = path_ + ": cannot be written: " + std::strerror(errno);
    } else {
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }
}

std::string OutputFile::close() {
  WARPLINE_EXPECT(file_ >= 0, "a file that was begun is closed");
  flush();
  if (failure_.empty() && !named_ && !give_name())
    failure_ = path_ + ": cannot be put in its place: " + std::strerror(errno);
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0 && failure_.empty())
    failure_ = path_ + ": cannot be written: " + std::strerror(errno);
  if (failure_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)
    failure_ = path_ + ": cannot be replaced: " + std::strerror(errno);
  if (!failure_.empty() && named_) ::unlink(temporary_.c_str());
  return failure_;
}

}  // namespace warpline
