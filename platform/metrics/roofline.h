#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/metrics/nsight_metrics.h"

namespace warpline {

/// What rooflines are computed from: of a run, or a kernel of it.
struct RooflineSource {
  std::function<double(const std::string& path)> counter;  ///< by its total path; 0: there is none
  std::function<double(const std::string& path)> key;      ///< of the GPU; NaN: it is not known
  double time_ns = 0;
  double gpus = 0;  ///< that ran it; 0: all
  [[nodiscard]] double busy_gpus() const { return gpus != 0 ? gpus : key("gpus"); }
};

/// Where a run stands under the roof of a memory, in warp instructions, as N. Ding and S. Williams draw it
/// ("An Instruction Roofline Model for GPUs", PMBS 2019).
struct Roofline {
  const char* memory = "";  ///< "DRAM", "reads of L2"
  double bytes = 0;         ///< moved to and from it
  double intensity = 0;     ///< warp instructions for each byte
  double rate = 0;          ///< warp instructions a nanosecond, attained
  double bandwidth = 0;     ///< of the memory at most, bytes a nanosecond: GB/s
  double issue_rate = 0;    ///< of all SMs at most, warp instructions a nanosecond
  [[nodiscard]] bool is_known() const;
  /// At most attainable at an intensity.
  [[nodiscard]] double roof(double at) const;
  [[nodiscard]] bool bandwidth_limits() const { return intensity * bandwidth < issue_rate; }
};

/// One for each memory, in the same order always. Where the run did nothing, or keys are not known, some are
/// not known either.
[[nodiscard]] std::vector<Roofline> rooflines(const RooflineSource& source);

/// Tables for people, of each source.
[[nodiscard]] std::string roofline_text(const std::vector<MetricSource>& sources);

}  // namespace warpline
