#include "rtl_models/document/random_access_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace warpline {
namespace {

/// Moves so many bytes by `step`, which moves some behind those that are done, and says how many.
template <class Step>
bool transfer(std::uint64_t bytes, const Step& step) {
  for (std::uint64_t done = 0; done != bytes;) {
    const ssize_t n = step(done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

RandomAccessFile::~RandomAccessFile() {
  if (file_ >= 0) ::close(file_);
}

std::string RandomAccessFile::open(const std::string& path) {
  const auto refused = [&path](const std::string& why) { return path + ": " + why; };
  // A FIFO would wait for somebody.
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return refused(std::strerror(errno));
  struct stat status {};
  std::string why;
  if (::fstat(file, &status) != 0) {
    why = std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    why = "is no plain file";
  } else if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    why = errno == EWOULDBLOCK ? "is in use as somebody's disk" : std::strerror(errno);
  }
  if (!why.empty()) {
    ::close(file);
    return refused(why);
  }
  file_ = file;
  size_ = static_cast<std::uint64_t>(status.st_size);
  return {};
}

bool RandomAccessFile::read(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  return transfer(bytes, [&, at = static_cast<char*>(to)](std::uint64_t done) {
    return ::pread(file_, at + done, bytes - done, static_cast<off_t>(offset + done));
  });
}

FileOutcome RandomAccessFile::write(std::uint64_t offset, const void* from, std::uint64_t bytes) const {
  errno = 0;
  const bool done = transfer(bytes, [&, at = static_cast<const char*>(from)](std::uint64_t part) {
    return ::pwrite(file_, at + part, bytes - part, static_cast<off_t>(offset + part));
  });
  if (done) return FileOutcome::done;
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return full ? FileOutcome::full : FileOutcome::failed;
}

FileOutcome RandomAccessFile::clear(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return FileOutcome::done;
  // Holes behind the end of a file that somebody has made shorter would be no bytes of it.
  struct stat status {};
  if (::fstat(file_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < offset + bytes)
    return FileOutcome::failed;
  if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes)) == 0)
    return FileOutcome::done;
  static constexpr std::array<char, 65536> kZeroes{};
  while (bytes != 0) {
    const std::uint64_t part = std::min<std::uint64_t>(bytes, kZeroes.size());
    if (const FileOutcome o = write(offset, kZeroes.data(), part); o != FileOutcome::done) return o;
    offset += part;
    bytes -= part;
  }
  return FileOutcome::done;
}

bool RandomAccessFile::flush() const {
  return ::fdatasync(file_) == 0;
}

}  // namespace warpline
