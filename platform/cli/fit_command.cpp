#include "platform/cli/fit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/signal_guard.h"
#include "platform/config/config_entries.h"
#include "platform/study/fit.h"
#include "platform/study/fit_report.h"
#include "platform/study/parallel_rows.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/file_claims.h"
#include "rtl_models/document/files.h"
#include "rtl_models/document/output_file.h"

namespace warpline {
namespace {

using FitClock = std::chrono::steady_clock;

/// Names the model that measures: its version, and a digest (FNV-1a over words of 64 bits) of this program.
std::string build_name() {
  std::uint64_t digest = 0xcbf29ce484222325;
  const auto program = read_file("/proc/self/exe", std::uint64_t{4} << 30U);
  if (program.ok()) {
    const std::string& bytes = program.value();
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      digest = (digest ^ word) * 0x100000001b3;
    }
  }
  return fmt::format("{} {:016x}", WARPLINE_VERSION, digest);
}

std::string state_beside(const std::string& keys) {
  const std::string stem = ends_with(keys, ".toml") ? keys.substr(0, keys.size() - 5) : keys;
  return stem + ".fit.json";
}

/// The GPU of a point: the user's, with the keys' values.
class FitGpu {
 public:
  explicit FitGpu(GpuChoice choice) : choice_(std::move(choice)) {}
  [[nodiscard]] const GpuChoice& choice() const { return choice_; }
  Result<GpuConfig> load() { return choice_.load(&text_); }
  [[nodiscard]] bool is_preset() const { return !preset_text(choice_.name).empty(); }

  [[nodiscard]] Result<GpuConfig> at(const study::FitPlan& plan, const study::FitState::Point& values) const {
    std::vector<std::string> sets = choice_.sets;
    for (const auto& [path, value] : plan.values_of(values))
      sets.push_back(path + "=" + std::to_string(value));
    return is_preset() ? load_gpu(choice_.name, sets) : load_gpu_text(choice_.name, text_, sets);
  }

  /// The keys that --set has changed and the plan does not search.
  [[nodiscard]] std::vector<ConfigEntry> changed(const study::FitPlan& plan, const GpuConfig& config) const {
    const auto own = is_preset() ? load_gpu(choice_.name) : load_gpu_text(choice_.name, text_);
    if (!own.ok()) return {};
    std::map<std::string, std::string> before;
    for (const ConfigEntry& e : config_entries(own.value())) before[e.path()] = e.value;
    std::set<std::string> searched;
    for (const auto& [path, value] : plan.values_of(study::FitState::Point(plan.keys.size())))
      searched.insert(path);
    std::vector<ConfigEntry> out;
    for (const ConfigEntry& e : config_entries(config))
      if (searched.count(e.path()) == 0 && e.value != before[e.path()]) out.push_back(e);
    return out;
  }

 private:
  GpuChoice choice_;
  std::string text_;  ///< of the file, where it is one
};

/// What one run of a fit has around it: the progress, the state's file and what stops it.
class FitRun {
 public:
  FitRun(const FitRequest& request, const FitGpu& gpu, const study::FitPlan& plan, std::string state_file,
         bool quiet)
      : request_(request),
        gpu_(gpu),
        plan_(plan),
        state_file_(std::move(state_file)),
        bar_(!quiet && is_terminal(2), 1, "rows") {
    const unsigned processors = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
    jobs_ = request.jobs == 0 ? processors : request.jobs;
    for (const study::FitRow& r : plan.rows) rows_.push_back(r.row);
    bar_.launch(0, "the start");
  }

  study::FitEvaluation measure(const study::FitState::Point& at) {
    if (SignalGuard::stop_wanted()) stop("by Ctrl-C", kInterrupted);
    if (request_.evaluations != 0 && evaluations_ == request_.evaluations)
      stop(fmt::format("after {} new evaluations, as --evaluations says", evaluations_), kDone);
    const double seconds = plan_.search.seconds;
    if (seconds > 0 && evaluations_ != 0 &&
        std::chrono::duration<double>(FitClock::now() - begin_).count() >= seconds)
      stop(fmt::format("after {:g} seconds, as the keys say", seconds), kDone);
    ++evaluations_;
    study::FitEvaluation out;
    const auto config = gpu_.at(plan_, at);
    if (!config.ok()) {
      out.no_gpu = config.faults().front().message;
      return out;
    }
    unsigned rows = 0;
    const auto results = study::measure_rows(config.value(), rows_, jobs_, [&] {
      ++measured_;
      ++rows;
      // Sensitivities need two neighbours of each key, beyond the search.
      const double all = static_cast<double>(plan_.search.evaluations + 2 * plan_.keys.size() - known_);
      bar_.update((evaluations_ - 1 + static_cast<double>(rows) / static_cast<double>(rows_.size())) /
                      std::max(all, static_cast<double>(evaluations_)),
                  measured_);
      return !SignalGuard::stop_wanted();
    });
    if (results.empty()) stop("by Ctrl-C", kInterrupted);
    for (const study::RowResult& r : results) out.rows.push_back({r.answered, r.measured, r.refused});
    return out;
  }

  void keep(const study::FitState& state, unsigned points, double cost) {
    known_ = points - std::min(points, evaluations_);
    bar_.launch(0, fmt::format("point {}, cost {:.4g}", points, cost));
    if (const std::string why = write_file_atomically(state_file_, state.json()); !why.empty())
      stop(why.compare(0, state_file_.size(), state_file_) == 0 ? why : state_file_ + ": " + why, kBadInput);
  }

  void clear() { bar_.clear(); }
  /// The exit status.
  [[nodiscard]] int status() const { return status_; }

 private:
  [[noreturn]] void stop(const std::string& why, int status) {
    status_ = status;
    throw study::FitStopped{why};
  }

  const FitRequest& request_;
  const FitGpu& gpu_;
  const study::FitPlan& plan_;
  std::string state_file_;
  ProgressBar bar_;
  std::vector<const study::MeasuredRow*> rows_;
  FitClock::time_point begin_ = FitClock::now();
  unsigned jobs_ = 1;
  unsigned evaluations_ = 0;    ///< made here
  unsigned known_ = 0;          ///< points of this run that were known
  std::uint64_t measured_ = 0;  ///< rows
  int status_ = kDone;
};

/// Why the files of a fit cannot be what they are to be, or an empty string.
std::string refused_files(const FitRequest& request, const FitGpu& gpu, const std::string& state,
                          const std::string& json) {
  FileClaims claims;
  claims.add(request.keys, "the file of --fit");
  if (!request.rows.empty()) claims.add(request.rows, "the file of --rows");
  if (!gpu.is_preset()) claims.add(gpu.choice().name, "the GPU's file");
  if (!gpu.is_preset() && !request.out.empty())
    return "--out writes a GPU with a preset as its base, and " + gpu.choice().name +
           " is none: without it the keys that are found are printed, to be put into that file";
  const std::map<std::string, std::string> outputs = {
      {"the state of the fit", state}, {"the file of --out", request.out}, {"the file of --json", json}};
  for (const auto& [what, path] : outputs) {
    if (path.empty()) continue;
    if (std::string why = claims.claim(path, what); !why.empty()) return why;
    if (const std::string why = OutputFile::refusal(path); !why.empty())
      return fmt::format("{}: {}", path, why);
  }
  return {};
}

int write_outcome(const std::string& path, const std::string& text) {
  const std::string why = write_file_atomically(path, text);
  return why.empty() ? kDone : bad_input(path + ": " + why);
}

}  // namespace

CLI::Option* add_fit_options(CLI::App& command, FitRequest& request) {
  CLI::Option* const fit = command.add_option(
      "--fit", request.keys, "searches the keys of this file for the values that meet its rows best");
  const auto add = [&](auto&&... option) { return command.add_option(option...)->needs(fit); };
  add("--state", request.state, "with --fit, where evaluations are kept and found again (KEYS.fit.json)");
  add("--out", request.out, "with --fit, a file for the values that were found, to be used as a GPU");
  add("--evaluations", request.evaluations, "with --fit, stops after so many new evaluations")
      ->check(CLI::Range(1U, 1'000'000U));
  add("--jobs", request.jobs, "with --fit, how many rows are measured at a time (the host's processors)")
      ->check(CLI::Range(1U, 256U));
  return fit;
}

int fit(const FitRequest& request, GpuChoice choice, const std::vector<study::MeasuredRow>& rows,
        const std::string& json, bool quiet) {
  const Result<std::string> text = read_file(request.keys);
  if (!text.ok()) return bad_input(text.faults());
  if (choice.name == "all") {
    const auto named = study::fit_gpu(request.keys, text.value());
    if (!named.ok()) return bad_input(named.faults());
    if (named.value().empty())
      return bad_input("which GPU is --fit for?",
                       "warpline calibrate GPU --fit ..., or gpu = \"...\" in the file");
    choice.name = named.value();
  }
  FitGpu gpu(std::move(choice));
  const auto config = gpu.load();
  if (!config.ok()) return bad_input(config.faults());
  const auto plan = study::read_fit(request.keys, text.value(), gpu.choice().name, config.value(), rows);
  if (!plan.ok()) return bad_input(plan.faults());

  const std::string state_file = request.state.empty() ? state_beside(request.keys) : request.state;
  if (const std::string why = refused_files(request, gpu, state_file, json); !why.empty())
    return bad_input(why);
  const study::FitIdentity identity = study::identity_of(plan.value(), config.value(), build_name());
  study::FitState state(identity);
  std::error_code unknown;
  if (std::filesystem::exists(state_file, unknown)) {
    const auto kept = read_file(state_file, std::uint64_t{1} << 30U);
    if (!kept.ok()) return bad_input(kept.faults());
    auto known = study::FitState::read(state_file, kept.value(), identity);
    if (!known.ok()) return bad_input(known.faults());
    state = std::move(known.value());
  }

  SignalGuard guard;
  guard.stop_on_interrupt();
  FitRun run(request, gpu, plan.value(), state_file, quiet);
  const auto outcome = study::run_fit(
      plan.value(), state,
      {[&](const study::FitState::Point& at) { return run.measure(at); },
       [&](const study::FitState& now, unsigned points, double cost) { run.keep(now, points, cost); }});
  run.clear();
  if (!outcome.ok()) return bad_input(outcome.faults());
  const study::FitOutcome& o = outcome.value();
  int status = run.status();
  print_result(study::fit_text(plan.value(), o));
  if (status == kBadInput) return bad_input(o.stopped);
  if (o.stopped.empty()) {
    const std::string base = gpu.is_preset() ? gpu.choice().name : "";
    std::string found = base.empty() ? "# keys of " + printable(gpu.choice().name) + "\n" : "";
    found += study::fit_toml(plan.value(), o, base, gpu.changed(plan.value(), config.value()));
    if (request.out.empty()) {
      print_result("\n" + found);
    } else {
      status = std::max(status, write_outcome(request.out, found));
    }
  }
  if (!json.empty())
    status = std::max(status, write_outcome(json, study::fit_json(gpu.choice().name, plan.value(), o)));
  return status;
}

}  // namespace warpline
