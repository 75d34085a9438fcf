#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <system_error>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/shared_options.h"
#include "platform/cli/study_runs.h"
#include "platform/machine/gpu_platform.h"
#include "platform/report/run_statistics.h"
#include "platform/sweep/optimiser.h"
#include "platform/sweep_report/study_results.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace sweep {
namespace {

constexpr std::size_t kShownCandidates = 10;
constexpr unsigned kFirstOnes = 100;  ///< candidates among which one is looked for that exists
constexpr std::size_t kMostEvaluations = 10'000'000;

struct OptimiseOptions {
  std::string study, results, objective;
  std::vector<std::string> constraints, pareto;
  std::size_t evaluations = 100;
  std::uint64_t seed = 1;
  unsigned jobs = 0;  ///< 0: as many as there are processors
  bool maximise = false, retry = false, quiet = false;
};

/// What a run says: figures, and the totals of all counters of the study's GPUs.
Result<std::vector<std::string>> metrics_of(const Study& study) {
  std::vector<std::string> names = ResultStore::figures();
  std::set<std::string> counters;
  for (const std::string& gpu : study.gpus) {
    const Result<GpuConfig> config = load_gpu(gpu);
    if (!config.ok()) return config.faults();
    GpuPlatform platform(config.value(), {});
    platform.build();
    CounterTable table;
    static_cast<void>(table.read([&](CounterVisitor& visitor) { platform.visit(visitor); }));
    for (const CounterTable::Entry& e : table.entries())
      if (total_path(e.path) == e.path) counters.insert(e.path);
  }
  names.insert(names.end(), counters.begin(), counters.end());
  return names;
}

/// That of some candidate of the first GPU; nothing: the first ones are no GPUs.
std::optional<Point> first_point(const Candidates& candidates) {
  std::vector<std::size_t> at(candidates.steps().size(), 0);
  for (unsigned tries = 0; tries < kFirstOnes; ++tries) {
    for (const Point& p : candidates.points_of(at))
      if (p.impossible.empty()) return p;
    std::size_t turns = at.size();
    while (turns > 1 && ++at[turns - 1] == candidates.steps()[turns - 1]) at[--turns] = 0;
    if (turns <= 1) break;
  }
  return std::nullopt;
}

std::string number_text(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string of_points(const Optimiser::Tried& t) {
  std::string out = fmt::format("point {}", t.points.front().number);
  if (t.points.size() > 1) out += fmt::format(" to {}", t.points.back().number);
  return out;
}

/// What is shown of a search that has ended, in whatever way.
class Findings {
 public:
  Findings(const Study& study, const Aim& aim, const Optimiser& search)
      : study_(study), aim_(aim), search_(search) {}

  void print() const {
    const std::vector<const Optimiser::Tried*> best = search_.best();
    if (!best.empty()) {
      print_table(best);
      if (aim_.objectives.size() == 1) print_best(*best.front());
    } else if (const auto nearest = search_.nearest(); !nearest.empty()) {
      print_result("nothing meets the constraints; the nearest are:\n");
      print_table(nearest);
      print_result(fmt::format("{:<12} {}\n", "nearest", nearest.front()->why));
    }
  }

 private:
  /// Candidates as far as they fit on a screen; a front is shown whole.
  void print_table(const std::vector<const Optimiser::Tried*>& all) const {
    const bool one = study_.workloads.size() == 1;
    std::vector<std::vector<std::string>> rows = {{"point", "gpu"}};
    std::vector<std::string>& head = rows.front();
    for (const Axis& a : study_.axes) head.insert(head.end(), a.keys.begin(), a.keys.end());
    for (const Formula& f : aim_.objectives) head.push_back(f.text());
    if (!one && aim_.objectives.size() == 1)
      for (const Workload& w : study_.workloads) head.push_back(w.name);
    std::vector<std::size_t> metrics;
    for (std::size_t m = 0; m < aim_.metrics.size() && one; ++m)
      if (std::find(head.begin(), head.end(), aim_.metrics[m]) == head.end()) {
        metrics.push_back(m);
        head.push_back(aim_.metrics[m]);
      }
    const std::size_t shown =
        aim_.objectives.size() > 1 ? all.size() : std::min(all.size(), kShownCandidates);
    for (std::size_t n = 0; n < shown; ++n) {
      const Optimiser::Tried& t = *all[n];
      std::vector<std::string> row = {std::to_string(t.points.front().number), t.points.front().gpu};
      for (const auto& [key, value] : t.points.front().settings) row.push_back(shown_value(value));
      for (std::size_t o = 0; o < aim_.objectives.size(); ++o)
        row.push_back(number_text(Optimiser::value(t, o)));
      if (!one && aim_.objectives.size() == 1)
        for (const double value : t.values[0]) row.push_back(number_text(value));
      for (const std::size_t m : metrics) row.push_back(number_text(t.metrics[m][0]));
      rows.push_back(std::move(row));
    }
    print_result(table_text(rows, {1}));
    if (shown < all.size()) print_result(fmt::format("and {} more\n", all.size() - shown));
  }

  /// Beside the study's first candidate, if that has a value, and how it is run again.
  void print_best(const Optimiser::Tried& best) const {
    const double value = Optimiser::value(best, 0);
    std::string out = fmt::format("{:<12} {}, {} {}", "best", of_points(best), aim_.objectives[0].text(),
                                  number_text(value));
    const Optimiser::Tried& first = search_.tried().front();
    if (&first != &best && !first.rating.values.empty()) {
      const double before = Optimiser::value(first, 0), change = value - before;
      const std::string by =
          before == 0 ? "" : fmt::format("{:.1f}% ", std::abs(change) / std::abs(before) * 100);
      out += fmt::format(": {}{} than {} of the study's first, {}", by, change < 0 ? "less" : "more",
                         number_text(before), of_points(first));
    }
    out += "\n";
    for (const Point& p : best.points)
      out += fmt::format("{:<12} {}\n", &p == best.points.data() ? "to repeat" : "",
                         shell_text(Sweep::words_of(study_, p)));
    print_result(out);
  }

  const Study& study_;
  const Aim& aim_;
  const Optimiser& search_;
};

void print_task(const OptimiseOptions& o, const Study& study, const Candidates& candidates, const Aim& aim) {
  std::size_t all = 1;
  for (const std::size_t steps : candidates.steps()) all *= steps;
  print_message(fmt::format("{:<12} {}: {} varied, {}, {}\n", "study", study.name,
                            counted(study.axes.size(), "key"), counted(study.gpus.size(), "GPU"),
                            counted(study.workloads.size(), "workload")));
  print_message(fmt::format("{:<12} {}{}\n", "candidates", candidates.count(),
                            candidates.count() == all ? "" : fmt::format(" of {}, by conditions", all)));
  std::string text =
      aim.objectives.size() > 1
          ? fmt::format("the least {} and the least {}", aim.objectives[0].text(), aim.objectives[1].text())
          : (aim.maximise ? "most " : "least ") + aim.objectives[0].text();
  if (study.workloads.size() > 1) text += ", geometric mean of the workloads";
  print_message(fmt::format("{:<12} {}\n", "looked for", text));
  for (const std::string& c : o.constraints)
    print_message(fmt::format("{:<12} {}{}\n", "subject to", c,
                              study.workloads.size() > 1 ? ", with each workload" : ""));
}

int work(const OptimiseOptions& o, const Study& study, const Candidates& candidates, const Aim& aim) {
  ResultStore store(o.results, ResultStore::Access::write);
  store.begin(study, WARPLINE_VERSION);
  if (o.retry) store.forget_unfinished();
  if (const std::vector<std::string> changed = store.changed_files(); !changed.empty())
    return bad_input(o.results + ": " + changed.front(), "begin another file of results with --results");
  if (!o.quiet) print_task(o, study, candidates, aim);
  ProgressBar bar(!o.quiet && is_terminal(2), 1, "candidates");
  bar.launch(0, study.name);
  Optimiser::Options options;
  options.evaluations = o.evaluations;
  options.seed = o.seed;
  options.runs.jobs = jobs_of(o.jobs);
  options.runs.command = run_words;
  options.runs.stop_wanted = is_stop_wanted;
  const double budget = static_cast<double>(std::min(o.evaluations, candidates.count()));
  options.on_progress = [&](std::size_t tried) { bar.update(static_cast<double>(tried) / budget, tried); };
  const StopSignals signals;
  Optimiser search(study, candidates, aim, store, options);
  const bool whole = search.run();
  bar.clear();
  Findings(study, aim, search).print();

  std::vector<const Optimiser::Tried*> failed;
  for (const Optimiser::Tried& t : search.tried())
    if (t.rating.kind == search::Rating::Kind::failed) failed.push_back(&t);
  if (!failed.empty())
    print_message(
        fmt::format("{} no value, the first of them: {}\n",
                    failed.size() == 1 ? "1 candidate has" : fmt::format("{} candidates have", failed.size()),
                    failed.front()->why));
  if (search.impossible() != 0)
    print_message(fmt::format(
        "{} no GPU, the first of them: {}\n",
        search.impossible() == 1 ? "1 candidate is" : fmt::format("{} candidates are", search.impossible()),
        search.why_impossible()));
  if (whole && search.tried().empty() && search.impossible() == 0)
    print_message("no candidate meets what --subject-to and the study ask for\n");
  print_message(fmt::format("{}: {} of {} tried{}\n", o.results, search.tried().size(),
                            counted(candidates.count(), "candidate"),
                            !whole               ? "; the same command goes on"
                            : search.exhausted() ? ", all that can be"
                                                 : "; more with --evaluations"));
  if (!whole) return kInterrupted;
  return search.best().empty() ? kCheckFailed : kDone;
}

int run_optimise(const OptimiseOptions& o) {
  if (o.objective.empty() == o.pareto.empty())
    return bad_input(o.pareto.empty() ? "--objective is missing" : "either --objective or --pareto",
                     "--objective cycles; or --pareto cycles,l2.slices");
  if (o.maximise && !o.pareto.empty())
    return bad_input("--maximise belongs to --objective", "of --pareto less is better: 1 / X turns it round");
  const Result<Study> read = read_study(o.study);
  if (!read.ok()) return bad_input(read.faults());
  const Study& study = read.value();
  const Result<std::vector<std::string>> metrics = metrics_of(study);
  if (!metrics.ok()) return bad_input(metrics.faults());
  std::vector<std::pair<std::string, std::string>> objectives;
  if (o.pareto.empty()) objectives.emplace_back("--objective", o.objective);
  for (const std::string& text : o.pareto) objectives.emplace_back("--pareto", text);
  const Result<Aim> aimed = Aim::of(objectives, o.constraints, metrics.value());
  if (!aimed.ok()) return bad_input(aimed.faults());
  Aim aim = aimed.value();
  aim.maximise = o.maximise;
  const Result<Candidates> candidates = Candidates::of(study);
  if (!candidates.ok()) return bad_input(candidates.faults());
  if (candidates.value().count() == 0)
    return bad_input(o.study + ": the conditions leave no candidate", "require and exclude");
  if (const std::optional<Point> point = first_point(candidates.value()))
    if (const Diagnostics faults = aim.unfit(study, *point); !faults.empty()) return bad_input(faults);
  try {
    return work(o, study, candidates.value(), aim);
  } catch (const StoreError& e) {
    return bad_input(o.results + ": " + e.what);
  } catch (const ConditionError& e) {
    return bad_input("--subject-to: " + e.what);
  } catch (const std::system_error& e) {
    return bad_input(std::string("a run could not be begun: ") + e.what(), "fewer --jobs");
  }
}

}  // namespace
}  // namespace sweep

void add_optimise(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("optimise", "Searches a study for the GPUs that are best at its workloads");
  sweep::OptimiseOptions& o = options_of(command, status, sweep::run_optimise);
  command.add_option("STUDY", o.study, "the study (TOML): GPUs, keys with their values, workloads")
      ->required();
  command
      .add_option("--results", o.results,
                  "SQLite file, as of `warpline sweep`; what has a row there is not run again")
      ->required();
  command.add_option("--objective", o.objective,
                     "what is to be least: figures, counters and keys in sums, products and parentheses; of "
                     "several workloads the geometric mean");
  command.add_flag("--maximise", o.maximise, "the objective is to be most");
  command
      .add_option("--subject-to", o.constraints,
                  "condition on the same, which every workload is to meet; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--pareto", o.pareto,
                  "X,Y: in the place of an objective, two of them; looks for all that have less of one than "
                  "whatever has less of the other")
      ->delimiter(',')
      ->expected(2);
  command.add_option("--evaluations", o.evaluations, "candidates to be tried, at most")
      ->check(kWholeNumber)
      ->check(CLI::Range(std::size_t{1}, sweep::kMostEvaluations))
      ->capture_default_str();
  command.add_option("--seed", o.seed, "of what is drawn; the same seed tries the same candidates")
      ->check(kWholeNumber)
      ->capture_default_str();
  add_jobs(command, o.jobs);
  command.add_flag("--retry", o.retry,
                   "runs those again that were refused, lost, interrupted or took too long");
  command.add_flag("--quiet", o.quiet, "no word of the task and no progress bar");
  command.footer(
      "Exit status: 0 something was found; 1 nothing that meets the constraints; 2 bad input; 130 "
      "interrupted.\n"
      "Example: warpline optimise study.toml --results study.sqlite --objective \"cycles * l2.slices\" "
      "--subject-to \"dram.reads < 2000\"");
}

}  // namespace warpline
