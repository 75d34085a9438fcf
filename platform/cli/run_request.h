#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/cli/shared_options.h"
#include "platform/observe/watcher.h"
#include "rtl_models/base/types.h"

namespace warpline {

/// What `warpline run` was asked for.
struct RunRequest {
  std::vector<std::string> command;  ///< as typed
  std::vector<std::string> inputs;
  GpuChoice gpu;
  std::string transport = "fast";
  std::vector<std::string> pins;  ///< patterns of hops opened as pins
  std::string fast_forward;       ///< kernel or number of grids, or empty
  bool keep_warm = false;         ///< what it skips keeps the caches warm
  std::string schedule;           ///< of modules in PTX: ptx, assembler; or empty
  bool tags_only = false;
  std::string trace_cache = "on";    ///< whether packed traces are kept and read: on, off
  bool strict_target = false;        ///< modules for later GPUs are refused, not only remarked
  std::string stats;                 ///< JSON file, or empty
  std::string stats_counters;        ///< which it has: all, counted, totals; or empty: all
  std::vector<std::string> metrics;  ///< of Nsight Compute, names or patterns, that are shown at the end
  bool roofline = false;             ///< how near its roofs it came is shown at the end
  bool energy = false;               ///< an estimate of it is shown at the end
  std::string access_log;            ///< what arrived at devices: text, or JSON if it ends so; or empty
  std::string profile;               ///< what warps did, per instruction: JSON; or empty
  std::optional<Cycle> sample;       ///< --sample: cycles of a span of --series and --timeline
  std::string series;                ///< CSV of figures over time, or empty
  std::vector<std::string> figures;  ///< of both: see figures_named()
  WatchOptions
      observation;  ///< --wave, --timeline, --latency, --reuse, --probe; check_request() reads the window
  std::optional<std::string> window;  ///< --window, as written
  bool check_consistency = false;
  std::string model = "ptx90";  ///< of check_consistency: ptx90 or ptx75
  std::string dot;              ///< of check_consistency: Graphviz file of a violation, or empty
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> jitter;
  unsigned threads = 1;
  bool mpi = false;    ///< of an MPI job, whose processes run GPUs of one platform
  bool writes = true;  ///< files: of such processes the first alone does
  Cycle max_cycles = kNever;
  std::string save, save_after;  ///< file of a checkpoint; kernel or number of grids after which; or empty
  std::string restore;           ///< file of a checkpoint, or empty
  bool warm = false;             ///< of it, the machine only: inputs run from their beginning
  std::optional<std::uint16_t> live;  ///< --live: port at which it is watched; 0: any
  bool paused = false;                ///< of --live: it waits in its first cycle
  bool quiet = false;
};

}  // namespace warpline
