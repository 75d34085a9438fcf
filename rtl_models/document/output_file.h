#pragma once

#include <string>
#include <string_view>

namespace warpline {

/// A file that is written piece by piece and appears under its name in one step, when it is complete.
///
/// Until then its bytes are in a file without a name on the same disk, of which nothing is left however the
/// process ends; where the file system has none of that kind, in one called NAME.part-PROCESS.
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
    if (bytes.size() < kBuffer) {
      buffer_ += bytes;
      if (buffer_.size() >= kBuffer) flush();
    } else {
      flush();
      put(bytes);
    }
  }
  /// Puts the file in its place. Returns why that failed, or an empty string; nothing is left then. Not
  /// closed, a file is given up. Pre: open() succeeded.
  [[nodiscard]] std::string close();

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18U;
  [[nodiscard]] bool open_nameless();
  void flush();
  void put(std::string_view bytes);
  [[nodiscard]] bool give_name();
  void give_up();
  std::string path_, temporary_;
  std::string buffer_;
  std::string failure_;
  int file_ = -1;
  bool named_ = false;  ///< temporary_ is there
};

}  // namespace warpline
