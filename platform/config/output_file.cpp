#include "warpline/config/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "warpline/base/contract.h"

namespace warpline {

OutputFile::~OutputFile() {
  give_up();
}

void OutputFile::give_up() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
  file_ = -1;
}

std::string OutputFile::open(const std::string& path) {
  WARPLINE_EXPECT(file_ < 0, "a file is begun once");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path + ": is a folder, not a file";
  path_ = path;
  temporary_ = path + ".part-" + std::to_string(::getpid());
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) return path + ": cannot be created: " + std::strerror(errno);
  return {};
}

void OutputFile::flush() {
  for (std::string_view rest = buffer_; !rest.empty() && failure_.empty();) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      failure_ = path_ + ": cannot be written: " + std::strerror(errno);
    } else {
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  buffer_.clear();
}

std::string OutputFile::close() {
  WARPLINE_EXPECT(file_ >= 0, "a file that was begun is closed");
  flush();
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0 && failure_.empty())
    failure_ = path_ + ": cannot be written: " + std::strerror(errno);
  if (failure_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)
    failure_ = path_ + ": cannot be replaced: " + std::strerror(errno);
  if (!failure_.empty()) ::unlink(temporary_.c_str());
  return failure_;
}

}  // namespace warpline
