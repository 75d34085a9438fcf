#pragma once

#include <string>
#include <vector>

#include "platform/sweep/result_store.h"
#include "rtl_models/base/problem.h"

namespace warpline::sweep {

/// Files of runs that were made one by one, in one order: `--stats`, and where there are any `--profile` and
/// `--series`.
struct PlainRuns {
  std::vector<std::string> statistics, profiles, series;
};

/// Makes a file of results of them, as if a study had run them: each is a point; its input files and what its
/// command chooses beside the GPU (transport, seed, options) are a workload; keys are those in which runs of
/// one GPU differ, and those that its command has set. Returns why it cannot, a profile or a series of
/// another run among it; nothing: it has. Throws StoreError where the disk takes no more.
[[nodiscard]] Diagnostics store_runs(const PlainRuns& runs, const std::string& results);

}  // namespace warpline::sweep
