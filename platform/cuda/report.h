#pragma once

#include <string>
#include <vector>

#include "platform/cuda/machine.h"

namespace warpline::cuda {

/// Writes what a program did on the GPUs as JSON: each grid and copy in the order in which it was done,
/// totals by name with what the grids counted, and what the program did not get. Returns why it could not;
/// empty: it could.
[[nodiscard]] std::string write_report(const std::string& path, const Machine& machine,
                                       const std::vector<WorkRecord>& records);

}  // namespace warpline::cuda
