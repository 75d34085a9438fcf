#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace warpline {

/// A file that is written piece by piece and appears under its name in one step, when it is complete.
///
/// Until then its bytes are in a file without a name on the same disk, of which nothing is left however the
/// process ends; where the file system has none of that kind, in one called NAME.part-PROCESS. Folders that
/// its path lacks are made when it is begun. Links are followed: what they point at is replaced, not they. A
/// file that was there keeps its mode, its owner and its group.
///
/// Written through, not replaced, is what a new file could not stand for: a device, a FIFO, an open file of
/// the process (/dev/stdout, /dev/fd/3), a file with several names or of another user, and a file in a folder
/// that takes no new ones. Of a plain file among these the first bytes come when 256 KiB are there or it is
/// closed, and until then it is what it was. Where the reader of a pipe goes away, it has had what it wanted:
/// the rest is dropped, and that is no failure. Pre, for that: the process ignores SIGPIPE.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Begins the file `path`. Returns why it cannot be written, or an empty string. A FIFO is waited for until
  /// somebody reads it, but not for longer than ten seconds. Pre: none is begun.
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

  /// Why open() would fail as things are, or an empty string. Leaves nothing and waits for nobody.
  [[nodiscard]] static std::string refusal(const std::string& path);

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18U;
  [[nodiscard]] std::string begin(const std::string& path, bool only_looks);
  [[nodiscard]] bool open_beside();
  [[nodiscard]] bool open_nameless();
  [[nodiscard]] bool open_through(mode_t kind, bool only_looks);
  void flush();
  void put(std::string_view bytes);
  [[nodiscard]] bool give_name();
  void give_up();
  std::string path_;    ///< as it was asked for, for messages
  std::string target_;  ///< what it means, links followed
  std::string temporary_;
  std::string buffer_;
  std::string failure_;
  int file_ = -1;
  bool named_ = false;      ///< temporary_ is there
  bool through_ = false;    ///< file_ is what the path names, not what will replace it
  bool unread_ = false;     ///< nobody reads this pipe any more
  bool truncates_ = false;  ///< its old bytes go when the first new ones come
};

}  // namespace warpline
