#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace warpline::sass {

/// Bytes that are appended and read again, in bounded memory: beyond kInMemory they lie in a scratch file
/// without a name. Or those of a file that is there. Several threads may read, while one appends.
class PackedBytes {
 public:
  static constexpr std::size_t kInMemory = std::size_t{4} << 20U;

  /// Empty. The scratch file is made in the first of `folders` that takes one; where none does, or its disk
  /// is full, all stays in memory.
  explicit PackedBytes(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  /// Those of the open file `file`, which is called `path` and closed with the object, from `start` on.
  PackedBytes(std::string path, int file, std::uint64_t start, std::uint64_t bytes)
      : path_(std::move(path)), file_(file), start_(start), stored_(bytes), spills_(false) {}
  PackedBytes(const PackedBytes&) = delete;
  PackedBytes& operator=(const PackedBytes&) = delete;
  ~PackedBytes();

  /// For who appends.
  [[nodiscard]] std::uint64_t size() const { return stored_ + recent_.size(); }
  void append(const std::uint8_t* bytes, std::size_t count);
  /// A number, seven bits to a byte, the lowest first.
  void append_number(std::uint64_t v);
  /// Reads `count` bytes from `offset` on. Where they lie soon behind those read last, the file is asked for
  /// many at a time. Throws InputError if they cannot be had.
  void read(std::uint64_t offset, std::uint8_t* to, std::size_t count);
  /// Throws InputError about them.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void spill();
  void read_locked(std::uint64_t offset, std::uint8_t* to, std::size_t count);
  void read_file(std::uint64_t offset, std::uint8_t* to, std::size_t count) const;

  std::mutex mutex_;
  std::vector<std::string> folders_;
  std::string path_ = "the scratch file of a trace";
  int file_ = -1;
  std::uint64_t start_ = 0;           ///< where in the file they begin
  std::uint64_t stored_ = 0;          ///< in the file
  std::vector<std::uint8_t> recent_;  ///< what follows those
  bool spills_ = true;
  std::vector<std::uint8_t> ahead_;  ///< of the file, read ahead
  std::uint64_t ahead_from_ = 0, next_read_ = 0;
};

/// Reads numbers of PackedBytes one after the other.
class NumberReader {
 public:
  /// From `from` up to `to`.
  NumberReader(PackedBytes& bytes, std::uint64_t from, std::uint64_t to)
      : bytes_(bytes), at_(from), to_(to) {}
  [[nodiscard]] bool done() const { return begin_ == end_ && at_ == to_; }
  /// The next; beyond the last, 0.
  std::uint64_t next();
  /// As many bytes as they are, fewer at the end.
  [[nodiscard]] std::string text(std::uint64_t count);

 private:
  bool refill();
  PackedBytes& bytes_;
  std::uint64_t at_, to_;
  std::uint8_t buffer_[4096];
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace warpline::sass
