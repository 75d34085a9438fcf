#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "platform/cli/shared_options.h"
#include "platform/study/measured_row.h"

namespace warpline {

/// What `warpline calibrate --fit` is asked for.
struct FitRequest {
  std::string rows;          ///< a file of rows, where it is not the rows built in
  std::string keys;          ///< the file; empty: no fit
  std::string state;         ///< file of what was measured; empty: beside the keys
  std::string out;           ///< file for the values that are found; empty: they are printed
  unsigned evaluations = 0;  ///< new ones at most in this run; 0: no limit
  unsigned jobs = 0;         ///< rows measured at a time; 0: as many as the host has processors
};

/// Adds the options. Returns --fit.
CLI::Option* add_fit_options(CLI::App& command, FitRequest& request);

/// Searches the keys of the file for the values with which `gpu` meets rows best. `gpu` may be "all" where
/// the file names the GPU. `json`: a file for the outcome, unless empty. Returns the exit status.
[[nodiscard]] int fit(const FitRequest& request, GpuChoice gpu, const std::vector<study::MeasuredRow>& rows,
                      const std::string& json, bool quiet);

}  // namespace warpline
