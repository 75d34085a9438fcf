#pragma once

#include <string>
#include <string_view>

namespace warpline {

/// A large file that is written piece by piece and appears under its name in one step, when it is
/// complete: until then its bytes are in another file beside it.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Begins the file `path`. Returns why it cannot be written, or an empty string. Pre: none is begun.
  [[nodiscard]] std::string open(const std::string& path);
  /// Appends. What the host refuses is reported by close().
  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBuffer) flush();
  }
  /// Puts the file in its place. Returns why that failed, or an empty string; nothing is left then. Not
  /// closed, a file is given up. Pre: open() succeeded.
  [[nodiscard]] std::string close();

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18U;
  void flush();
  void give_up();
  std::string path_, temporary_;
  std::string buffer_;
  std::string failure_;
  int file_ = -1;
};

}  // namespace warpline
