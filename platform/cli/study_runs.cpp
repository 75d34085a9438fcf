#include "platform/cli/study_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "platform/cli/command_line.h"
#include "platform/sweep/result_store.h"

namespace warpline {
namespace {

constexpr unsigned kMostJobs = 1024;

volatile std::sig_atomic_t stop_wanted = 0;

}  // namespace

void add_jobs(CLI::App& command, unsigned& jobs) {
  command.add_option("--jobs", jobs, "runs at a time; as many as there are processors, unless said")
      ->check(CLI::Range(1U, kMostJobs));
}

unsigned jobs_of(unsigned asked) {
  return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

int run_words(const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return run_command_line(static_cast<int>(argv.size()), argv.data());
}

StopSignals::StopSignals() {
  stop_wanted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_wanted = 1; };
  for (std::size_t n = 0; n < std::size(kSignals); ++n) {
    sigaction(kSignals[n], &action, &before_[n]);
    // nohup: what is ignored stays so.
    if (before_[n].sa_handler == SIG_IGN) sigaction(kSignals[n], &before_[n], nullptr);
  }
  // Who has this ignored by its parent would not hear how its children end.
  children_ = std::signal(SIGCHLD, SIG_DFL);
}

StopSignals::~StopSignals() {
  for (std::size_t n = 0; n < std::size(kSignals); ++n) sigaction(kSignals[n], &before_[n], nullptr);
  std::signal(SIGCHLD, children_);
}

bool is_stop_wanted() {
  return stop_wanted != 0;
}

ScratchFile::ScratchFile() {
  std::error_code unknown;
  path_ = (std::filesystem::temp_directory_path(unknown) / "warpline_results_XXXXXX").string();
  if (unknown || mkdtemp(path_.data()) == nullptr)
    throw sweep::StoreError{"no folder can be made for it (TMPDIR)"};
}

ScratchFile::~ScratchFile() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::size_t>& left) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t n = 0; n < row.size(); ++n)
      line += std::find(left.begin(), left.end(), n) != left.end()
                  ? fmt::format("{:<{}}  ", row[n], widths[n])
                  : fmt::format("{:>{}}  ", row[n], widths[n]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace warpline
