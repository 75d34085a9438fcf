#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rtl_models/base/counter.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

/// The path of a counter's total: indices fall away, and so does the SM around its caches, which are
/// known by their own names. `sm[3].l1_lg.sector_hits` belongs to `l1_lg.sector_hits`, `sm[3].lsu.faults` to
/// `sm.lsu.faults`.
[[nodiscard]] std::string total_path(std::string_view path);

/// The counters of a netlist: totals first, then every instance. Their order and meaning are learned
/// from the first reading that is not empty; later readings must be of the same netlist.
class CounterTable {
 public:
  struct Entry {
    std::string path;
    std::string unit;
    std::string description;
  };
  /// One number for each entry.
  using Values = std::vector<std::uint64_t>;

  /// Reads all counters by way of `visit`. Counters of the same path are added up.
  [[nodiscard]] Values read(const std::function<void(CounterVisitor&)>& visit);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// The value at `path`, or 0 where there is no such counter.
  [[nodiscard]] std::uint64_t value(const Values& values, const std::string& path) const;
  /// What was counted between two readings. An empty earlier reading counts as zeros.
  [[nodiscard]] static Values difference(const Values& later, const Values& earlier);

 private:
  struct Slot {
    std::size_t total;     ///< entry
    std::size_t instance;  ///< entry; the same as `total` where a path has no index
  };
  void learn(const std::function<void(CounterVisitor&)>& visit);

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  ///< in the order of the visit
  std::unordered_map<std::string, std::size_t> by_path_;
};

/// What the memory model says of a launch.
struct ConsistencyStatistics {
  std::string verdict;               ///< "obeys", "violates", "not judged"
  std::string axiom;                 ///< of a violation
  std::string reason;                ///< unless it obeys
  unsigned threads = 0, events = 0;  ///< judged together
  std::uint64_t accesses = 0;        ///< recorded
};

/// What one launch did.
struct LaunchStatistics {
  std::string kernel;
  std::string input;    ///< the file it came from
  std::string outcome;  ///< "done", "deadlock", "cycle limit", "stopped"
  Cycle cycles = 0;
  bool measured = true;  ///< counts in the run's totals; otherwise it was fast-forwarded over, loosely timed
  CounterTable::Values values;
  std::optional<ConsistencyStatistics> consistency;  ///< if it was asked for
};

/// What a run did.
struct RunStatistics {
  std::string version;
  std::string gpu;
  std::string transport;
  std::vector<std::string> inputs;
  std::size_t fast_forwarded = 0;  ///< launches before those that are measured
  Cycle cycles = 0;                ///< of what is measured
  double time_ns = 0;
  double wall_s = 0;  ///< the only figure that depends on the host
  CounterTable table;
  CounterTable::Values values;
  std::vector<LaunchStatistics> launches;
  Standstill standstill;  ///< of a run that did not end quiescent
};

/// The JSON object of schema 1, with a newline at its end.
[[nodiscard]] std::string to_json(const RunStatistics& run);

/// A table for people, at most 100 columns wide. `dram_peak` is in bytes per nanosecond, for the share of it
/// that was used. Colours only if `colour`.
[[nodiscard]] std::string summary(const RunStatistics& run, double dram_peak, bool colour);

}  // namespace warpline
