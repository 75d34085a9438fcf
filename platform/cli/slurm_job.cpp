#include "platform/cli/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include "platform/sweep_report/study_results.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// The share that a task's file of results is of, by its name; nothing: it is no such file.
std::optional<sweep::Share> share_of(const std::string& name) {
  const std::vector<std::string_view> words = split(name, '.');
  if (words.size() != 5 || words[0] != "part" || words[2] != "of" || words[4] != "sqlite")
    return std::nullopt;
  const auto index = number_from<std::size_t>(words[1]), of = number_from<std::size_t>(words[3]);
  if (!index || !of || *index >= *of) return std::nullopt;
  return sweep::Share{*index, *of};
}

}  // namespace

bool SlurmJob::is_part(const std::string& path) const {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path whole = fs::weakly_canonical(path, unknown);
  return share_of(whole.filename().string()) &&
         fs::equivalent(whole.has_parent_path() ? whole.parent_path() : ".", folder_, unknown);
}

std::string SlurmJob::write(const std::string& study, std::size_t tasks, unsigned jobs) const {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return error.message();
  const std::string folder = fs::canonical(folder_, error).string();
  const std::string command = fs::read_symlink("/proc/self/exe", error).string();
  const std::string file = fs::absolute(study, error).string();
  if (error) return error.message();
  // Slurm has signs of its own in the names of logs.
  if (folder.find_first_of("%\\\"\n") != std::string::npos)
    return "its name has a sign that Slurm does not take as it is: % \\ \" or a new line";
  // Shares of another number of tasks are of other points.
  if (const std::vector<Part> there = parts(); !there.empty() && there.front().share.of != tasks)
    return fmt::format(
        "it has results of {} tasks: --tasks {} goes on with them, and another folder begins anew",
        there.front().share.of, there.front().share.of);
  const auto quoted = [](const std::string& word) { return sweep::shell_text({word}); };
  return write_file_atomically(
      script(),
      fmt::format(
          "#!/usr/bin/env bash\n"
          "# A study by Slurm: each task runs a share of its points into a file of its own, and goes on\n"
          "# behind what that has already. Then: warpline sweep STUDY --results FILE --collect FOLDER\n"
          "#SBATCH --job-name=warpline\n"
          "#SBATCH --array=0-{last}\n"
          "#SBATCH --ntasks=1\n"
          "#SBATCH --cpus-per-task={jobs}\n"
          "#SBATCH --output=\"{folder}/part.%a.of.{tasks}.log\"\n"
          "set -euo pipefail\n"
          "share=$SLURM_ARRAY_TASK_ID\n"
          "exec {command} sweep {study} --share \"$share/{tasks}\" --jobs {jobs} --quiet \\\n"
          "  --results {quoted}/part.\"$share\".of.{tasks}.sqlite \"$@\"\n",
          fmt::arg("last", tasks - 1), fmt::arg("jobs", jobs), fmt::arg("folder", folder),
          fmt::arg("tasks", tasks), fmt::arg("command", quoted(command)), fmt::arg("study", quoted(file)),
          fmt::arg("quoted", quoted(folder))));
}

std::vector<SlurmJob::Part> SlurmJob::parts() const {
  std::vector<Part> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    if (const auto share = share_of(entry.path().filename().string()))
      out.push_back({entry.path().string(), *share});
  }
  std::sort(out.begin(), out.end(), [](const Part& a, const Part& b) {
    return std::tie(a.share.of, a.share.index) < std::tie(b.share.of, b.share.index);
  });
  return out;
}

}  // namespace warpline
