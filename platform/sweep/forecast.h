#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/sweep/study.h"

namespace warpline::sweep {

/// What one process that hands out points (Sweep over RemoteRuns) takes for it, in seconds. The figures are
/// those of tests/bench/sweep_bench on one core of a Xeon server, with the statistics of `vecadd` on `mini`
/// (docs/studies.md), but for the two of the program itself.
struct ManagerCosts {
  /// Those of a study: rows with a profile or figures over time take longer.
  [[nodiscard]] static ManagerCosts of(const Study& study);

  double hand_out = 15e-6;    ///< a point is sent to a place
  double answer = 800e-6;     ///< an answer is read, and its row put into the transaction
  double look = 0.015e-6;     ///< of each place, each time that all are looked at
  double commit = 25e-3;      ///< of a transaction
  double commit_every = 0.5;  ///< as the program has it
  double look_every = 2e-3;   ///< as the program has it, of workers and of who hands out
  /// From when a point or an answer is sent until the other side looks for it: half of that, on average.
  [[nodiscard]] double way() const { return look_every / 2; }
};

/// How a study would go with so many workers.
struct Forecast {
  /// What workers that have nothing to do wait for most.
  enum class Limit : std::uint8_t {
    none,       ///< at most a tenth of their time is lost
    manager,    ///< who hands out, and is at work
    messages,   ///< who hands out, and does not look that soon
    last_runs,  ///< others, as there are no points any more
    points      ///< points: there are not more of them than workers
  };
  std::size_t workers = 0;
  double wall_s = 0;
  double speed_up = 0;      ///< beside all runs one after the other, without anybody who hands out
  double efficiency = 0;    ///< speed-up by worker
  double manager_busy = 0;  ///< share of the time
  Limit limit = Limit::none;
};

/// Simulates a study event by event, as Sweep hands out points: `runs` are the seconds of each point, in
/// their order. Pre: workers is not 0.
[[nodiscard]] Forecast forecast(const std::vector<double>& runs, std::size_t workers,
                                const ManagerCosts& costs = ManagerCosts());

}  // namespace warpline::sweep
