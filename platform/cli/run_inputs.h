#pragma once

#include "warpline/cli/run_command.h"
#include "warpline/config/loader.h"
#include "warpline/gpu/fast_forward.h"
#include "warpline/gpu/run_plan.h"

namespace warpline {

/// What `warpline run` needs before it can start.
struct RunInputs {
  GpuConfig config;
  RunPlan plan;
  FastForward fast_forward;
};

/// Reads the GPU and the inputs, and judges the request by them. Every fault of all of them at once.
[[nodiscard]] Result<RunInputs> read_run_inputs(const RunRequest& request);

}  // namespace warpline
