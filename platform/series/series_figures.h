#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/report/run_statistics.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// A figure over time: what a column of a series, or a track of a timeline, shows. docs/series.md says what
/// each means.
struct SeriesFigure {
  enum class Kind : std::uint8_t {
    counted,  ///< what the counters in `parts` counted in a span
    rate,     ///< the same, of `scale` that one cycle has
    ratio,    ///< the same, of what those in `wholes` counted
    held,     ///< what the gauge of all blocks of a kind is at the end of a span
  };
  std::string name;
  std::string unit;  ///< "" for plain numbers and shares, which are from 0 to 1
  Kind kind = Kind::counted;
  std::vector<std::string> parts;   ///< paths of counters
  std::vector<std::string> wholes;  ///< likewise
  std::vector<std::string> less;    ///< likewise: not to be counted among `parts`
  double scale = 1;
  std::string block, gauge;  ///< of `held`: "l2", "miss_registers"
};

/// What there is without being asked for, of a GPU: all GPUs of the platform together.
[[nodiscard]] std::vector<SeriesFigure> standard_figures(const GpuConfig& config);

/// Those that `names` name: standard ones, counters, and patterns of counters (`l2[*].sector_hits`, in which
/// brackets stand for themselves), each once and in that order. A fault: a name
/// that is none of a figure and matches no counter, with the nearest one there is.
[[nodiscard]] Result<std::vector<SeriesFigure>> figures_named(
    const std::vector<std::string>& names, const GpuConfig& config,
    const std::vector<CounterTable::Entry>& counters);

}  // namespace warpline
