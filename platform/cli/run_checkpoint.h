#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/machine/checkpoint.h"
#include "platform/machine/gpu_platform.h"
#include "platform/report/run_statistics.h"

namespace warpline {

/// What of a run has to be the same where it is continued: the files that it reads, and what it was asked
/// for.
struct RunIdentity {
  std::vector<InputFile> files;
  std::vector<std::pair<std::string, std::string>> choices;  ///< options and their values
};

/// Writes the checkpoint of a run that has made this progress (LaunchRunner::progress) to the file of --save.
/// Returns why that failed, a sentence, or nothing.
[[nodiscard]] std::string save_run(const std::string& path, GpuPlatform& platform, RunIdentity identity,
                                   std::string progress);
/// Reads the file of --restore.
[[nodiscard]] Result<Checkpoint> read_checkpoint(const std::string& path);
/// The progress of the run that saved a checkpoint. Faults: it was another run than this, and in what.
[[nodiscard]] Result<std::string> progress_in(const Checkpoint& checkpoint, const RunIdentity& identity);

}  // namespace warpline
