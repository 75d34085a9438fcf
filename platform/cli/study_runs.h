#pragma once

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/points.h"
#include "rtl_models/base/problem.h"

namespace warpline {

// What the commands share that run the points of a study.

/// `--jobs`: 0 stands for as many as there are processors.
void add_jobs(CLI::App& command, unsigned& jobs);
[[nodiscard]] unsigned jobs_of(unsigned asked);

/// An option that takes numbers with commas between, none left out, each in `range`. It may be repeated.
void add_numbers(CLI::App& command, const std::string& name, std::vector<std::size_t>& numbers,
                 std::pair<std::size_t, std::size_t> range, const std::string& meaning);

/// A command of words, `warpline` and its arguments, in this process. Returns its exit status.
int run_words(const std::vector<std::string>& words);

/// Takes the signals that end a process, for as long as it lives: the runs are ended first then.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)] = {};
  void (*children_)(int) = SIG_DFL;
};
/// Whether one of them has come.
[[nodiscard]] bool is_stop_wanted();

/// Metrics and figures of a study that no GPU of it has, each where it stands. Of many points it looks at
/// some, and says nothing of a name that others may have.
[[nodiscard]] Diagnostics unknown_names(const sweep::Study& study, const sweep::Plan& plan);

/// A file of results that is nobody's, and goes with this. Throws sweep::StoreError: there is no room for it.
class ScratchFile {
 public:
  ScratchFile();
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] std::string path() const { return path_ + "/results.sqlite"; }

 private:
  std::string path_;
};

/// Rows of texts, the first of them the head, aligned: to the left in the columns `left`, else to the right.
[[nodiscard]] std::string table_text(const std::vector<std::vector<std::string>>& rows,
                                     const std::vector<std::size_t>& left);

}  // namespace warpline
