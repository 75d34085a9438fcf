#pragma once

#include "platform/cli/run_request.h"
#include "platform/launch/fast_forward.h"
#include "platform/launch/workload.h"

namespace warpline {

/// What `warpline run` needs before it can start.
struct RunInputs {
  GpuConfig config;
  std::string gpu_text;  ///< of a GPU that is a file
  Workload plan;
  FastForward fast_forward;
  FastForward rest;  ///< after which it stops, for --save-after
};

/// Reads the GPU and the inputs, and judges the request by them. Every fault of all of them at once.
[[nodiscard]] Result<RunInputs> read_run_inputs(const RunRequest& request);

}  // namespace warpline
