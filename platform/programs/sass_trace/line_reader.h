#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "platform/programs/sass_trace/byte_stream.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/sm/input_error.h"

namespace warpline::sass {

/// Lines of a text file in bounded memory.
class LineReader {
 public:
  /// A longer line is no trace (the longest of a trace is its kernel's name).
  static constexpr std::size_t kMaxLine = 65536;

  /// Throws InputError if the file cannot be opened.
  explicit LineReader(std::string path, Fingerprint fingerprint = Fingerprint::unwanted);
  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Throws InputError if the file cannot be read further or the line is too long.
  [[nodiscard]] bool next(std::string_view& line) {
    const char* const from = buffer_.get() + begin_;
    const void* const found = std::memchr(from, '\n', end_ - begin_);
    if (found == nullptr) return next_in_parts(line);
    const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - from);
    begin_ += length + 1;
    give(line, {from, length});
    return true;
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of what has been read so far of the file as it lies on disk. Pre: it is wanted.
  [[nodiscard]] FileFingerprint fingerprint() const { return stream_->fingerprint(); }
  /// Number of the line that `next` gave, from 1.
  [[nodiscard]] unsigned number() const { return number_; }

 private:
  bool refill();
  /// Reads on until a line is whole.
  bool next_in_parts(std::string_view& line);
  void give(std::string_view& line, std::string_view read) {
    ++number_;
    if (read.size() > kMaxLine) fail_too_long(number_, read);
    if (!read.empty() && read.back() == '\r') read.remove_suffix(1);
    line = read;
  }
  [[noreturn]] void fail_too_long(unsigned number, std::string_view line) const;

  std::string path_;
  std::unique_ptr<ByteStream> stream_;
  static constexpr std::size_t kBuffer = 4 * kMaxLine;
  std::unique_ptr<char[]> buffer_{new char[kBuffer]};  ///< not cleared: a file may be short
  std::size_t begin_ = 0, end_ = 0;
  unsigned number_ = 0;
  bool ended_ = false;
};

/// A diagnostic at `column` (1-based; 0: the whole line) of a line, which is shown cut to 200
/// characters and with what cannot be printed as '?'.
[[nodiscard]] Diagnostic fault_at(const std::string& file, unsigned line, std::size_t column,
                                  std::string_view source, std::string message, std::string hint = {},
                                  std::size_t length = 1);

}  // namespace warpline::sass
