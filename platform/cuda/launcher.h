#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/problem.h"

namespace warpline::cuda {

/// How a program is to be run on the platform.
struct ExecRequest {
  std::string gpu;                   ///< a preset or a file
  std::vector<std::string> sets;     ///< settings, as `--set` takes them
  std::string report, profile;       ///< files, or empty
  std::string latency, reuse;        ///< likewise: see WatchOptions
  std::string series;                ///< likewise: see SampleOptions
  std::string sample;                ///< of series: cycles of a row, or empty
  std::vector<std::string> figures;  ///< of series: which
  bool fast_forward = false;         ///< no grid is timed, but for those of `measure`
  bool keep_warm = false;            ///< grids that are not timed keep the caches warm
  std::vector<std::string> measure;  ///< see Measuring::include()
  bool exact_bounds = false;         ///< accesses a little out of a buffer are faults
  bool children = false;             ///< programs that it starts get the platform, too
  std::string schedule;              ///< see ptx::schedule_named(); empty: as an assembler has it
  unsigned threads = 1;              ///< see RunOptions::threads
  std::vector<std::string> command;  ///< the program and its arguments
};

/// Environment variables by which the launcher tells our libraries in the program what to do.
namespace environment {
inline constexpr const char* kGpu = "WARPLINE_GPU";
inline constexpr const char* kSettings = "WARPLINE_SET";  ///< one per line
inline constexpr const char* kReport = "WARPLINE_REPORT";
inline constexpr const char* kProfile = "WARPLINE_PROFILE";
inline constexpr const char* kLatency = "WARPLINE_LATENCY";
inline constexpr const char* kReuse = "WARPLINE_REUSE";
inline constexpr const char* kSeries = "WARPLINE_SERIES";
inline constexpr const char* kSample = "WARPLINE_SAMPLE";             ///< a number
inline constexpr const char* kFigures = "WARPLINE_FIGURES";           ///< one per line
inline constexpr const char* kFastForward = "WARPLINE_FAST_FORWARD";  ///< set: no grid is timed
inline constexpr const char* kKeepWarm = "WARPLINE_KEEP_WARM";  ///< set: those that are not are loosely timed
inline constexpr const char* kMeasure = "WARPLINE_MEASURE";     ///< which are, one per line
inline constexpr const char* kExactBounds = "WARPLINE_EXACT_BOUNDS";  ///< set: to the byte
inline constexpr const char* kSchedule = "WARPLINE_SCHEDULE";         ///< ptx or assembler
inline constexpr const char* kThreads = "WARPLINE_THREADS";           ///< a number; not set: 1
inline constexpr const char* kChildren = "WARPLINE_CHILDREN";         ///< set: preloading is inherited
inline constexpr const char* kPathBefore = "WARPLINE_LIBRARY_PATH";   ///< LD_LIBRARY_PATH as it was
inline constexpr const char* kPreloadBefore =
    "WARPLINE_PRELOAD";  ///< LD_PRELOAD as it was; set: by the launcher
}  // namespace environment

/// What a program needs to be run, and how it is to be started.
struct ExecPlan {
  std::string program;                   ///< the path of the file
  std::vector<std::string> preload;      ///< libraries of ours
  std::vector<std::string> environment;  ///< "NAME=value", to be added
  std::vector<std::string> notes;        ///< for the user: how its CUDA is reached, a sentence each
  std::vector<std::string> warnings;     ///< what will not work, if the program asks for it
};

/// Finds the program as a shell would, looks how it reaches CUDA (a shared runtime, one that is linked in,
/// the driver), and says how to start it. Faults: there is no such program; it is started without a loader;
/// its runtime is linked in and it is stripped; our libraries are not where they should be. `libraries`: the
/// folder of ours.
[[nodiscard]] Result<ExecPlan> plan_exec(const ExecRequest& request, const std::string& libraries);
/// The folder of our libraries beside the command that runs: in a build tree, or where it is installed.
[[nodiscard]] std::string library_folder();
/// Becomes the program. Returns only if that fails: why.
[[nodiscard]] std::string become(const ExecRequest& request, const ExecPlan& plan);

}  // namespace warpline::cuda
