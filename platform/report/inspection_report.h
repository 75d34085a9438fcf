#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "platform/programs/module.h"
#include "platform/report/run_statistics.h"

namespace warpline {

/// What a program asked for, after the run.
struct InspectionReport {
  std::string text;                     ///< what is shown: one line per run of equal values, with its index
  std::vector<Comparison> comparisons;  ///< of values expected, by statement
};

/// Of a module whose variables lie at `addresses`, when its last launch is over.
[[nodiscard]] InspectionReport inspect(const programs::Module& module,
                                       const std::map<std::string, std::uint64_t>& addresses,
                                       const GpuPlatform& platform);

}  // namespace warpline
