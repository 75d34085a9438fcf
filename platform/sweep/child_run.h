#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace warpline::sweep {

/// Does a command of words, `warpline` and its arguments, and returns its exit status: in a process of its
/// own.
using Command = std::function<int(const std::vector<std::string>& words)>;

/// A command that a process of its own does, and what becomes of it.
class ChildRun {
 public:
  /// How it ended.
  struct End {
    int exit_status = 0;     ///< where it was not killed
    int killed_by = 0;       ///< a signal
    std::string statistics;  ///< what it wrote to statistics_path()
    std::string said;        ///< the last of what it wrote to its standard streams
    double wall_s = 0, cpu_s = 0;
    std::uint64_t peak_bytes = 0;
  };

  /// The file that commands are to write their statistics to.
  [[nodiscard]] static const char* statistics_path();
  /// Begins. The child ends when this process does, in whatever way, and hears no signals of its terminal.
  /// Throws std::system_error: the host has no room for one.
  ChildRun(const Command& command, const std::vector<std::string>& words);
  /// Kills it if it still runs.
  ~ChildRun();
  ChildRun(const ChildRun&) = delete;
  ChildRun& operator=(const ChildRun&) = delete;

  /// Becomes readable when it has ended.
  [[nodiscard]] int file() const { return process_file_; }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  void kill() const;
  /// Whether it has ended; then `end` says how. Once.
  [[nodiscard]] bool ended(End& end);

 private:
  pid_t child_ = -1;
  int process_file_ = -1, statistics_ = -1, said_ = -1;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace warpline::sweep
