#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpline::sweep {

/// Does a command of words, `warpline` and its arguments, and returns its exit status: in a process of its
/// own.
using Command = std::function<int(const std::vector<std::string>& words)>;

/// A command that a process does somewhere, and what becomes of it. Its destructor kills it if it still runs.
class PointRun {
 public:
  /// How it ended.
  struct End {
    int exit_status = 0;          ///< where it was not killed
    int killed_by = 0;            ///< a signal
    std::string statistics;       ///< what it wrote to ChildRun::statistics_path()
    std::string profile, series;  ///< and to the other files of ChildRun
    std::string said;             ///< the last of what it wrote to its standard streams, as UTF-8
    double wall_s = 0, cpu_s = 0;
    std::uint64_t peak_bytes = 0;
  };

  PointRun() = default;
  virtual ~PointRun() = default;
  PointRun(const PointRun&) = delete;
  PointRun& operator=(const PointRun&) = delete;
  /// Becomes readable when it has ended; -1: there is no such file, and ended() must be asked.
  [[nodiscard]] virtual int file() const = 0;
  virtual void kill() = 0;
  /// Whether it has ended; then `end` says how. Once.
  [[nodiscard]] virtual bool ended(End& end) = 0;
  /// Since it began.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// One that a child of this process does.
class ChildRun final : public PointRun {
 public:
  /// The file that commands are to write their statistics to.
  [[nodiscard]] static const char* statistics_path();
  /// Those for a profile and for figures over time, which are there where the words name them.
  [[nodiscard]] static const char* profile_path();
  [[nodiscard]] static const char* series_path();
  /// Begins. The child ends when this process does, in whatever way, and hears no signals of its terminal.
  /// Throws std::system_error: the host has no room for one.
  ChildRun(const Command& command, const std::vector<std::string>& words);
  ~ChildRun() override;

  [[nodiscard]] int file() const override { return process_file_; }
  void kill() override;
  [[nodiscard]] bool ended(End& end) override;

 private:
  void close_files();

  pid_t child_ = -1;
  int process_file_ = -1, said_ = -1;
  std::array<int, 3> written_ = {-1, -1, -1};  ///< statistics, profile, series; -1: it writes none
};

}  // namespace warpline::sweep
