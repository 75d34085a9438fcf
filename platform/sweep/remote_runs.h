#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/child_run.h"

namespace warpline::sweep {

/// Messages between the processes that work on a study: one that hands out its points, and workers. Each
/// pair's come in the order in which they were sent.
class Mail {
 public:
  virtual ~Mail() = default;
  /// Of workers: from 1 on; the process that hands out is 0.
  [[nodiscard]] virtual unsigned processes() const = 0;
  /// Sends a message, and does not wait for anybody to take it.
  virtual void post(unsigned to, std::string message) = 0;
  /// The next message of anybody, with who sent it; nothing where none has come.
  [[nodiscard]] virtual std::optional<std::pair<unsigned, std::string>> next() = 0;
};

/// Why processes cannot work together.
struct RemoteError {
  std::string what;
};

/// What the process that hands out sees of the workers: places in which commands run.
class RemoteRuns {
 public:
  /// Waits for all workers to say how much they do at a time. Throws RemoteError where one is of another
  /// version.
  RemoteRuns(Mail& mail, const std::string& version);
  /// Has the workers kill what they still run, and end.
  ~RemoteRuns();
  RemoteRuns(const RemoteRuns&) = delete;
  RemoteRuns& operator=(const RemoteRuns&) = delete;

  [[nodiscard]] std::size_t places() const { return workers_.size(); }
  /// Begins a command in a place. Pre: nothing runs there.
  [[nodiscard]] std::unique_ptr<PointRun> begin(std::size_t place, const std::vector<std::string>& words);
  /// Takes what workers have sent.
  void look();
  /// Whether somebody has told a worker to stop.
  [[nodiscard]] bool stop_wanted() const { return stop_wanted_; }

 private:
  class Run;
  Mail& mail_;
  std::vector<unsigned> workers_;  ///< of each place, whose it is
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, PointRun::End> ended_;  ///< runs that nobody has asked for since
  bool stop_wanted_ = false;
};

/// What a worker sends of a run that has ended: JSON, and behind a zero byte the statistics as they are.
[[nodiscard]] std::string packed_end(std::uint64_t number, const PointRun::End& end);

/// Works for the process that hands out until it has this end: runs commands in processes of its own, `jobs`
/// at a time. What dies of a run is such a process, and is told as its end. `stop_wanted` is passed on.
void work_for_others(Mail& mail, const std::string& version, unsigned jobs, const Command& command,
                     const std::function<bool()>& stop_wanted);

}  // namespace warpline::sweep
