#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

/// The path of a counter's total: indices fall away, and so does the SM around its caches, which are
/// known by their own names. `sm[3].l1_lg.sector_hits` belongs to `l1_lg.sector_hits`, `sm[3].lsu.faults` to
/// `sm.lsu.faults`.
WARPLINE_PUBLIC [[nodiscard]] std::string total_path(std::string_view path);

/// The counters of a netlist: totals first, then every instance. Their order and meaning are learned
/// from the first reading that is not empty; later readings must be of the same netlist.
class WARPLINE_PUBLIC CounterTable {
 public:
  struct Entry {
    std::string path;
    std::string unit;
    std::string description;
  };
  /// One number for each entry.
  using Values = std::vector<std::uint64_t>;
  /// The entries of which something was counted, in their order: of very many counters, most launches change
  /// few.
  using Changes = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

  /// Reads all counters by way of `visit`. Counters of the same path are added up.
  [[nodiscard]] Values read(const std::function<void(CounterVisitor&)>& visit);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// The value at `path`, or 0 where there is no such counter.
  [[nodiscard]] std::uint64_t value(const Values& values, const std::string& path) const;
  [[nodiscard]] std::uint64_t value(const Changes& changes, const std::string& path) const;
  /// What was counted between two readings. An empty earlier reading counts as zeros.
  [[nodiscard]] static Values difference(const Values& later, const Values& earlier);
  [[nodiscard]] static Changes changes(const Values& later, const Values& earlier);
  /// The same, with the entries that did not change.
  [[nodiscard]] Values whole(const Changes& changes) const;

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
struct WARPLINE_PUBLIC ConsistencyStatistics {
  std::string verdict;               ///< "obeys", "violates", "not judged"
  std::string axiom;                 ///< of a violation
  std::string reason;                ///< unless it obeys
  unsigned threads = 0, events = 0;  ///< judged together
  std::uint64_t accesses = 0;        ///< recorded
};

/// What one launch did.
struct WARPLINE_PUBLIC LaunchStatistics {
  std::string kernel;
  std::string input;    ///< the file it came from
  std::string outcome;  ///< "done", "deadlock", "cycle limit", "stopped"
  Cycle cycles = 0;
  unsigned gpus = 1;     ///< that ran its grids
  bool measured = true;  ///< counts in the run's totals; otherwise it was fast-forwarded over
  CounterTable::Changes counted;
  std::optional<ConsistencyStatistics> consistency;  ///< if it was asked for
};

/// A file that a run has read.
struct WARPLINE_PUBLIC InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// A key of the GPU as the run had it, after all overrides.
struct WARPLINE_PUBLIC Setting {
  std::string path;
  std::string value;  ///< as TOML writes it
};

/// A result that was compared with what was expected.
struct WARPLINE_PUBLIC Comparison {
  std::string what;     ///< "buffer \"c\""
  std::string failure;  ///< why it is not as expected, a sentence; empty: it is
};

/// What a run was asked for beside its inputs and its GPU.
struct WARPLINE_PUBLIC RunChoices {
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> jitter;
  std::optional<Cycle> max_cycles;
  std::string fast_forward;  ///< as written
  bool keep_warm = false;
  std::vector<std::string> pins;
  bool tags_only = false;
  bool check_consistency = false;
};

/// How a run ended.
enum class RunVerdict : std::uint8_t {
  finished,      ///< to its end, and all is as expected
  interrupted,   ///< by a signal: figures are those of the work done
  deadlocked,    ///< nothing can move any more
  limit,         ///< not done at the cycle limit
  faulted,       ///< guests made mistakes, of which there are records
  failed_check,  ///< a result is not as expected, counters do not reconcile, or the memory model is violated
  incomplete,    ///< a grid could not be judged, or a file not be written
};
WARPLINE_PUBLIC [[nodiscard]] const char* name_of(RunVerdict verdict);

/// What a run did.
struct WARPLINE_PUBLIC RunStatistics {
  std::string version;
  std::vector<std::string> command;  ///< as typed
  RunVerdict verdict = RunVerdict::finished;
  int exit_status = 0;
  std::string gpu;
  std::vector<Setting> configuration;
  std::string configuration_sha256;
  std::string transport;
  std::vector<std::string> inputs;
  std::vector<InputFile> files;  ///< that the inputs consist of
  RunChoices choices;
  std::size_t checks = 0, failed_checks = 0;  ///< results compared, and those not as expected
  std::vector<Comparison> comparisons;        ///< those that have a name
  /// A sentence on each of those, and on all else that is not as it should be, but for faults.
  std::vector<std::string> failures;
  std::uint64_t fault_count = 0;
  std::vector<FaultRecord> faults;  ///< the first 1000 of each SM
  std::size_t fast_forwarded = 0;   ///< launches before those that are measured
  Cycle cycles = 0;                 ///< of what is measured
  double time_ns = 0;
  double wall_s = 0;  ///< the only figure that depends on the host
  CounterTable table;
  CounterTable::Values values;
  std::vector<LaunchStatistics> launches;
  Standstill standstill;                      ///< of a run that did not end quiescent
  std::vector<std::string> refused_accesses;  ///< of devices and GPUs on a bus, a sentence each
  std::uint64_t refusals = 0;                 ///< how many there were
};

/// Which counters statistics have.
enum class StatisticsCounters : std::uint8_t {
  all,      ///< each with its unit and description, of the run and of each launch
  counted,  ///< totals so, and by their values alone those of blocks that counted something; of launches,
            ///< where there are several, what they counted
  totals,   ///< the same without those of blocks
};

/// The JSON object of schema 2, with a newline at its end.
WARPLINE_PUBLIC [[nodiscard]] std::string to_json(const RunStatistics& run,
                                                  StatisticsCounters counters = StatisticsCounters::all);

/// A table for people, at most 100 columns wide. `dram_peak` is in bytes per nanosecond, for the share of it
/// that was used. Colours only if `colour`.
WARPLINE_PUBLIC [[nodiscard]] std::string summary(const RunStatistics& run, double dram_peak, bool colour);

}  // namespace warpline
