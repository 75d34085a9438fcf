#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/study/measured_row.h"
#include "rtl_models/base/problem.h"

namespace warpline::study {

/// A key of a GPU that goes with another one.
struct FitFollower {
  std::string path;
  std::uint64_t plus = 0;  ///< that it has more
};

/// A key of a GPU that a fit searches. It takes the values start + n * step of [lowest, highest].
struct FitKey {
  std::string path;  ///< "sm.issue_latency"
  std::vector<FitFollower> also;
  std::uint64_t lowest = 0, highest = 0, step = 1, start = 0;
  [[nodiscard]] std::int64_t steps_down() const { return static_cast<std::int64_t>((start - lowest) / step); }
  [[nodiscard]] std::int64_t steps_up() const { return static_cast<std::int64_t>((highest - start) / step); }
  /// Pre: -steps_down() <= n <= steps_up().
  [[nodiscard]] std::uint64_t value(std::int64_t n) const {
    return start + static_cast<std::uint64_t>(n) * step;
  }
};

/// A row that a fit is to meet.
struct FitRow {
  const MeasuredRow* row = nullptr;
  double tolerance = 0;  ///< per cent of the published value, above 0: an error of that size costs 1
  double weight = 1;
};

/// How the keys are searched. Both stages end where what `evaluations` allows is used up.
struct FitSearch {
  enum class Local : unsigned char { bobyqa, cobyla, sbplx };
  enum class Global : unsigned char { none, direct, crs };
  Local local = Local::bobyqa;
  Global global = Global::none;
  unsigned evaluations = 200;       ///< points at most; sensitivities come on top
  unsigned global_evaluations = 0;  ///< of them for the global stage
  double seconds = 0;               ///< of the host for one run, which then stops; 0: no limit
  double tolerance = 0;             ///< relative change of the cost at which the local stage ends; 0: none
  std::uint32_t seed = 1;           ///< of a global stage by chance
};

/// What a file of keys asks for.
struct FitPlan {
  std::vector<FitKey> keys;
  std::vector<FitRow> rows;
  FitSearch search;

  /// Each key that has a value of its own where the searched ones have `values`, those that go with others
  /// too.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> values_of(
      const std::vector<std::uint64_t>& values) const;
};

/// The GPU that a file of keys names (`gpu = "v100"`), or an empty string. Faults: it is no TOML.
[[nodiscard]] Result<std::string> fit_gpu(const std::string& file, const std::string& text);

/// Reads a file of keys (docs/calibration.md, "Fitting a preset", describes it) for the GPU `config`, which
/// the user calls `gpu`. `rows` are those that it may name, and must outlive the plan. Every fault is told at
/// once.
[[nodiscard]] Result<FitPlan> read_fit(const std::string& file, const std::string& text,
                                       const std::string& gpu, const GpuConfig& config,
                                       const std::vector<MeasuredRow>& rows);

}  // namespace warpline::study
