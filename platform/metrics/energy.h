#pragma once

#include <string>
#include <vector>

#include "platform/metrics/nsight_metrics.h"

namespace warpline {

/// What a kind of work took.
struct EnergyShare {
  const char* what;
  double joules = 0;
};

/// An estimate of the energy of a run or a kernel: counted work times figures of one work at a time, which
/// were measured on an H200 (energy_figures()), and what the GPU takes whatever it does. It tells kernels and
/// designs apart; it is no product's power.
[[nodiscard]] std::vector<EnergyShare> energy_of(const MetricSource& source);

/// Tables for people of the energy of each source.
[[nodiscard]] std::string energy_text(const std::vector<MetricSource>& sources);

/// The figures, and how each was measured, as a section of Markdown.
[[nodiscard]] std::string energy_figures();

}  // namespace warpline
