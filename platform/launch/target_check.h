#pragma once

#include "rtl_models/base/problem.h"

namespace warpline {

struct GpuConfig;
struct Workload;

/// Modules and traces of `plan` that a GPU of this compute capability would not load, by their target (PTX
/// ISA, ".target"): one for later GPUs; of a module for `sm_NNa` any but its own, of `sm_NNf` any but later
/// ones of its family. None where `compute_capability` is 0. Here they run all the same, so this is for
/// warnings, or for who wants them refused.
[[nodiscard]] Diagnostics unfit_targets(const Workload& plan, const GpuConfig& config);

}  // namespace warpline
