#pragma once

#include <vector>

#include "../gpu/ptx_run.h"
#include "warpline/gpu/record/execution_record.h"
#include "warpline/litmus/judge.h"

namespace warpline::litmus::testing {

/// What the grids of a launch file did, on the preset mini.
inline std::vector<ExecutionRecord> records_of(const std::string& ptx, const std::string& launch,
                                               const RunOptions& options = {}, std::size_t most = 1'000'000) {
  std::vector<ExecutionRecord> out;
  const test::PtxRun run(ptx, launch, {}, {}, options, [&](GpuPlatform& gpu) {
    gpu.record(most, [&](const ExecutionRecord& r) { out.push_back(r); });
  });
  return out;
}

}  // namespace warpline::litmus::testing
