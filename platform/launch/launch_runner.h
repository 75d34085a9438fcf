#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/launch/workload.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/sass_trace/trace.h"
#include "platform/report/run_statistics.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

class LaunchHost;
struct FastForward;

/// How a run ended.
struct WARPLINE_PUBLIC RunEnd {
  RunOutcome outcome = RunOutcome::quiescent;
  std::string stuck_kernel;             ///< of a run that did not end quiescent
  bool host_is_stuck = false;           ///< it ended, and the host is not done
  Standstill standstill;                ///< of a run that did not end quiescent
  std::size_t checks = 0;               ///< buffers, symbols and registers compared
  std::size_t failed_checks = 0;        ///< of those, not as expected
  std::vector<Comparison> comparisons;  ///< each of the checks
  bool checks_stopped = false;          ///< the others were left out, as on_check() said
  std::vector<std::string> failures;    ///< one sentence for each of them, and for each dump that failed
  std::size_t unwritten = 0;            ///< dumps that failed
  std::string shown;                    ///< what programs asked to be shown, line by line
  std::string printed;                  ///< by kernels' printf, and by their assertions that failed
  std::vector<std::string> notes;       ///< checks and dumps left out, opcodes not understood
  bool stopped_early = false;           ///< after the grids of stop_after(): nothing was checked
  std::size_t fast_forwarded = 0;       ///< grids that ran before the measurement started
  Cycle measured_from = 0;              ///< cycle in which it started
  CounterTable::Values before;          ///< what was counted before it; empty: nothing
  Diagnostics input_faults;             ///< an input that turned out unusable on the way
};

/// Runs a plan on a GPU: puts the data there, launches, compares and writes the results.
class WARPLINE_PUBLIC LaunchRunner {
 public:
  /// Keeps both. Pre: the platform is new, or was restored; and tags-only if the plan is without data.
  /// `host`: plays the host of launch files that have one, and outlives this; null: they are refused.
  LaunchRunner(Workload& plan, GpuPlatform& platform, bool tags_only, LaunchHost* host = nullptr);
  ~LaunchRunner();

  LaunchRunner(const LaunchRunner&) = delete;
  LaunchRunner& operator=(const LaunchRunner&) = delete;

  /// Runs loosely timed up to there, and measures from there on.
  void fast_forward(const FastForward& to);
  /// Ends the run at the rest after the first grid of that kernel, or after that many grids, those that run
  /// at the same time included; nothing is checked then.
  void stop_after(const FastForward& rest);
  /// Whether the packed forms of traces are kept and read; they are not unless this is called.
  void cache_traces(sass::TraceCache cache);
  /// Whether buffers are written to their `dump` files, as they are unless this is called: of processes that
  /// run a platform together (RunOptions::exchange), one is to.
  void write_dumps(bool writes);
  /// Called before each grid with its number and its kernel's name.
  void on_launch(std::function<void(std::size_t, const std::string&)> callback);
  /// Called after each grid with what its kernels have printed, in pieces: by printf, or (`assertion`) by
  /// assertions that failed.
  void on_printed(std::function<void(const std::string& text, bool assertion)> callback);
  /// Called when what is measured begins, where something was counted before: by what is fast-forwarded over,
  /// by a host's setting up, or by what ran on the machine until it was saved.
  void on_measuring(std::function<void()> callback);
  /// Called now and then while results are compared; false leaves out what is not compared yet.
  void on_check(std::function<bool()> callback);
  /// Reserves and fills memory, and checks that this GPU can run every kernel.
  [[nodiscard]] Diagnostics prepare();
  /// Runs every step, then checks and dumps. Pre: prepare() found no fault.
  [[nodiscard]] RunEnd run(CounterTable& table, std::vector<LaunchStatistics>& launches);
  /// What continue_from() needs of a run that ended quiescent, beside the platform: how far it got.
  [[nodiscard]] const std::string& progress() const;
  /// Has run() go on where another one of the same plan had got to, as if there had been one run only. The
  /// platform has been restored to what it was then. A fault: that is the progress of another plan, or lies
  /// behind the rest of stop_after(). Pre: prepare() found no fault; run() was not called yet.
  [[nodiscard]] Diagnostics continue_from(const std::string& progress);

 private:
  struct WARPLINE_INTERNAL State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
