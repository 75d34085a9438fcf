#include "platform/programs/sass_trace/packed_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "rtl_models/sm/input_error.h"

namespace warpline::sass {
namespace {

/// Bytes that the file is asked for where reads follow one another.
constexpr std::size_t kAhead = std::size_t{1} << 16U;

/// A file without a name, open for both; -1: this folder takes none.
int scratch_in(const std::string& folder) {
  const int nameless = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (nameless >= 0) return nameless;
  std::string name = folder + "/warpline-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

bool write_all(int file, const std::uint8_t* bytes, std::size_t count, std::uint64_t offset) {
  while (count != 0) {
    const ssize_t n = ::pwrite(file, bytes, count, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    count -= static_cast<std::size_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

PackedBytes::~PackedBytes() {
  if (file_ >= 0) ::close(file_);
}

void PackedBytes::fail(const std::string& message) const {
  throw InputError(Diagnostic::about(path_, message));
}

void PackedBytes::append(const std::uint8_t* bytes, std::size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  recent_.insert(recent_.end(), bytes, bytes + count);
  if (recent_.size() >= kInMemory && spills_) spill();
}

void PackedBytes::append_number(std::uint64_t v) {
  std::uint8_t bytes[10];
  std::size_t n = 0;
  for (; v >= 0x80; v >>= 7U) bytes[n++] = static_cast<std::uint8_t>(v | 0x80U);
  bytes[n++] = static_cast<std::uint8_t>(v);
  append(bytes, n);
}

void PackedBytes::spill() {
  for (std::size_t i = 0; file_ < 0 && i < folders_.size(); ++i) file_ = scratch_in(folders_[i]);
  spills_ = file_ >= 0 && write_all(file_, recent_.data(), recent_.size(), stored_);
  if (!spills_) return;
  stored_ += recent_.size();
  recent_.clear();
}

void PackedBytes::read(std::uint64_t offset, std::uint8_t* to, std::size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  read_locked(offset, to, count);
}

void PackedBytes::read_locked(std::uint64_t offset, std::uint8_t* to, std::size_t count) {
  if (count == 0) return;
  if (offset >= stored_) {
    if (offset - stored_ > recent_.size() || recent_.size() - (offset - stored_) < count)
      fail("ends too early");
    std::memcpy(to, recent_.data() + (offset - stored_), count);
    return;
  }
  if (stored_ - offset < count) {
    const std::size_t first = stored_ - offset;
    read_file(offset, to, first);
    return read_locked(stored_, to + first, count - first);
  }
  const auto is_ahead = [&] {
    return offset >= ahead_from_ && offset + count <= ahead_from_ + ahead_.size();
  };
  if (!is_ahead()) {
    // What follows the last read closely is one of many small ones; another is a long warp that goes on.
    const bool follows = offset >= next_read_ && offset - next_read_ < kAhead;
    if (!follows || count > kAhead) {
      next_read_ = std::max(next_read_, offset + count);
      return read_file(offset, to, count);
    }
    ahead_from_ = ~std::uint64_t{0};  // nowhere, should the file not be readable
    ahead_.resize(std::min<std::uint64_t>(kAhead, stored_ - offset));
    read_file(offset, ahead_.data(), ahead_.size());
    ahead_from_ = offset;
  }
  next_read_ = std::max(next_read_, offset + count);
  std::memcpy(to, ahead_.data() + (offset - ahead_from_), count);
}

void PackedBytes::read_file(std::uint64_t offset, std::uint8_t* to, std::size_t count) const {
  while (count != 0) {
    const ssize_t n = ::pread(file_, to, count, static_cast<off_t>(start_ + offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be read: " + std::string(std::strerror(errno)));
    if (n == 0) fail("ends too early");
    to += n;
    count -= static_cast<std::size_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
}

bool NumberReader::refill() {
  begin_ = 0;
  end_ = std::min<std::uint64_t>(sizeof buffer_, to_ - at_);
  bytes_.read(at_, buffer_, end_);
  at_ += end_;
  return end_ != 0;
}

std::uint64_t NumberReader::next() {
  std::uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (begin_ == end_ && !refill()) return v;
    const std::uint8_t b = buffer_[begin_++];
    v |= std::uint64_t{b & 0x7FU} << shift;
    if (b < 0x80) break;
  }
  return v;
}

std::string NumberReader::text(std::uint64_t count) {
  std::string out;
  while (out.size() < count && (begin_ != end_ || refill())) {
    const std::size_t n = std::min<std::uint64_t>(count - out.size(), end_ - begin_);
    out.append(reinterpret_cast<const char*>(buffer_) + begin_, n);
    begin_ += n;
  }
  return out;
}

}  // namespace warpline::sass
