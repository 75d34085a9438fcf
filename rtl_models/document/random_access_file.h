#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace warpline {

/// How a write ended. `full`: the host has no room for it: its disk is full, or a quota or the limit of the
/// process is reached.
enum class FileOutcome : std::uint8_t { done, full, failed };

/// A file of fixed length whose bytes are read and written anywhere, as a disk's are.
class RandomAccessFile {
 public:
  RandomAccessFile() = default;
  ~RandomAccessFile();
  RandomAccessFile(RandomAccessFile&& other) noexcept
      : file_(std::exchange(other.file_, -1)), size_(other.size_) {}
  RandomAccessFile& operator=(RandomAccessFile&&) = delete;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  /// Opens it for reading and writing. Why that cannot be, a sentence with the file's name: missing, no plain
  /// file, no permission; empty: it is open. Nobody else of this kind can open it then, in any process: two
  /// machines with one disk would destroy what is on it. Pre: not open.
  [[nodiscard]] std::string open(const std::string& path);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Of bytes within size(). False: the host refuses. Pre: open.
  [[nodiscard]] bool read(std::uint64_t offset, void* to, std::uint64_t bytes) const;
  [[nodiscard]] FileOutcome write(std::uint64_t offset, const void* from, std::uint64_t bytes) const;
  /// Makes them 0, without room on the host's disk where that can be.
  [[nodiscard]] FileOutcome clear(std::uint64_t offset, std::uint64_t bytes) const;
  /// What was written is on the host's disk.
  [[nodiscard]] bool flush() const;

 private:
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace warpline
