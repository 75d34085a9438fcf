#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "platform/sweep/points.h"

namespace warpline {

/// A study that Slurm's array jobs work on: each task runs a share of its points into a file of its own in
/// the job's folder, and what is there is put together afterwards.
class SlurmJob {
 public:
  explicit SlurmJob(std::string folder) : folder_(std::move(folder)) {}

  /// Writes the job's script, as study.sbatch, and makes the folder where there is none. `jobs`: runs at a
  /// time of each task. Returns why it cannot, or nothing.
  [[nodiscard]] std::string write(const std::string& study, std::size_t tasks, unsigned jobs) const;
  [[nodiscard]] std::string script() const { return folder_ + "/study.sbatch"; }

  /// A file of results of a task.
  struct Part {
    std::string path;
    sweep::Share share;
  };
  /// Those that are there, by their numbers.
  [[nodiscard]] std::vector<Part> parts() const;
  /// Whether a path is that of such a file, there or not.
  [[nodiscard]] bool is_part(const std::string& path) const;

 private:
  std::string folder_;
};

}  // namespace warpline
