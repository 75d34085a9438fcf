#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/report/run_statistics.h"
#include "rtl_models/document/document.h"

namespace warpline {

/// What metrics are computed from: what a run, or one kernel of it, has counted.
struct MetricSource {
  std::string name;                                               ///< of the kernel; empty: the whole run
  std::function<std::uint64_t(const std::string& path)> counter;  ///< by its total path; 0: there is none
  double time_ns = 0;
  unsigned gpus = 1;        ///< that have counted it
  unsigned busy_gpus = 1;   ///< of those, so many ran it
  std::uint64_t grids = 1;  ///< of the kernel, all together
  /// A key of the GPU that is a number; NaN: it is not known.
  std::function<double(const std::string& path)> key = [](const std::string&) { return std::nan(""); };
  std::string transport;            ///< that the run had; empty: it is not known
  std::optional<double> sm_cycles;  ///< cycles of the SMs' clock; none: the clock is not known
};

struct MetricDefinition;

/// A metric of Nsight Compute that has an equal here. It is a sum of counters, or a quotient of two such
/// sums. Source of names: `ncu --query-metrics` of version 2025.3 for GH100.
class NsightMetric {
 public:
  /// Those that `names` ask for, in their order: names as ncu writes them ("lts__t_sectors_op_read.sum"), or
  /// patterns of them with `*` and `?`. Errors: a name that is none of them, a pattern that fits none.
  [[nodiscard]] static Result<std::vector<NsightMetric>> named(const std::vector<std::string>& names);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& unit() const { return unit_; }
  /// Nothing where it has no value: a quotient of nothing, cycles of a clock that is not known.
  [[nodiscard]] std::optional<double> value(const MetricSource& of) const;

 private:
  enum class Over : std::uint8_t { nothing, seconds, sm_cycles };
  NsightMetric(const MetricDefinition& definition, Over over, const char* suffix);
  static const std::vector<NsightMetric>& all();

  const MetricDefinition* definition_;
  Over over_;
  std::string name_, unit_;
};

/// "kernel k, 3 launches together".
[[nodiscard]] std::string title_of(const MetricSource& source);

/// Tables for people: what `metrics` say of each of `sources`.
[[nodiscard]] std::string metrics_text(const std::vector<NsightMetric>& metrics,
                                       const std::vector<MetricSource>& sources);

/// All metrics with their formulas, as a page of Markdown.
[[nodiscard]] std::string metrics_reference();

/// What a run has counted: the whole run, unless it has a single kernel, and each kernel with all its grids
/// that were measured. `sm_mhz`: the SMs' clock.
[[nodiscard]] std::vector<MetricSource> metric_sources(const RunStatistics& run, double sm_mhz,
                                                       unsigned gpus);

/// The same of a file of `warpline run --stats` or `warpline exec --report`. Errors: it is no such file.
[[nodiscard]] Result<std::vector<MetricSource>> read_metric_sources(const std::string& path);

}  // namespace warpline
