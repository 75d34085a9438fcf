#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/child_run.h"
#include "platform/sweep/points.h"
#include "platform/sweep/remote_runs.h"
#include "platform/sweep/result_store.h"

namespace warpline::sweep {

/// Runs the points of a plan, which may be some of a study's, that have no row yet, each in a process of its
/// own, and writes their rows.
class Sweep {
 public:
  struct Options {
    unsigned jobs = 1;             ///< processes at a time, of this one
    RemoteRuns* others = nullptr;  ///< more of them, of other processes; null: there are none
    bool first_ones = false;       ///< of each workload the first point alone, for an estimate
    Command command;               ///< does what a process is to do
    std::function<void(std::size_t done, std::size_t of)> on_progress;  ///< after each run, and now and then
    std::function<bool()> stop_wanted;                                  ///< asked now and then
  };
  /// How it went, of this time.
  struct Outcome {
    std::size_t ran = 0;  ///< rows written
    bool stopped = false;
  };

  /// All of them outlive this.
  Sweep(const Study& study, const Plan& plan, ResultStore& store, const Options& options);
  ~Sweep();
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  /// Runs them all. Throws StoreError where the disk takes no more: what was committed is whole.
  Outcome run();
  /// The words of a point's command, in the place of argv. `statistics`: a file that it writes, beside what
  /// else the study keeps of each run; empty: none, and it says what it does.
  [[nodiscard]] static std::vector<std::string> words_of(const Study& study, const Point& point,
                                                         const std::string& statistics = {});

 private:
  struct Slot;
  /// A run that has ended, and has no row yet.
  struct Ended {
    const Point* point = nullptr;
    unsigned tries = 0;
    bool too_long = false;
    PointRun::End end;
  };
  void keep_first_ones();
  void begin(Slot& free, const Point& point, unsigned tries);
  void write(const Point& point, const PointResult& result);
  bool fill_slots();
  void look_after(Slot& slot);
  void settle(Ended& ended);
  void commit_in_time(bool now);

  const Study& study_;
  const Plan& plan_;
  ResultStore& store_;
  const Options& options_;
  std::vector<const Point*> waiting_;                     ///< the last is next
  std::vector<std::pair<const Point*, unsigned>> again_;  ///< lost, and how often they were tried
  std::vector<Slot> slots_;
  std::vector<Ended> ended_;
  Outcome outcome_;
  std::size_t before_ = 0;  ///< rows that were there
  std::chrono::steady_clock::time_point committed_ = std::chrono::steady_clock::now();
};

}  // namespace warpline::sweep
