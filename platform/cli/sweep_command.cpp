#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/slurm_job.h"
#include "platform/cli/study_runs.h"
#include "platform/mpi/mpi_job.h"
#include "platform/sweep/difference.h"
#include "platform/sweep/forecast.h"
#include "platform/sweep/sweep.h"
#include "platform/sweep_report/study_results.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/base/random.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

using namespace sweep;

constexpr std::size_t kShownPoints = 10;
constexpr std::size_t kShownImpossible = 5;
constexpr std::size_t kTasks = 16;  ///< of an array job, unless said
constexpr std::size_t kMostTasks = 1'000'000;
constexpr std::size_t kMostWorkers = 1'000'000;

struct SweepOptions {
  std::string study, results, slurm, collect;
  Share share;
  std::size_t tasks = 0;             ///< of slurm; 0: not said
  unsigned jobs = 0;                 ///< 0: as many as there are processors
  std::vector<std::size_t> workers;  ///< of plan: for which its time is foretold
  bool plan = false, retry = false, quiet = false, mpi = false;
  RemoteRuns* others = nullptr;  ///< of mpi
};

std::string settings_text(const Point& p) {
  std::string out = p.gpu;
  for (const auto& [key, value] : p.settings) out += " " + key + "=" + value;
  return out;
}

std::string duration(double seconds) {
  if (seconds >= 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 90) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 1) return fmt::format("{:.0f} ms", 1e3 * seconds);
  return fmt::format("{:.1f} s", seconds);
}

/// What a study comes to, before anything is run.
void print_plan(const Study& study, const Plan& plan, std::size_t done) {
  std::size_t impossible = 0;
  for (const Point& p : plan.points) impossible += p.impossible.empty() ? 0 : 1;
  const char* const designs[] = {"grid", "Latin hypercube", "one at a time"};
  print_message(fmt::format("{:<12} {}: {} of {} varied, {}, {}\n", "study", study.name,
                            designs[static_cast<int>(study.design)], counted(study.axes.size(), "key"),
                            counted(study.gpus.size(), "GPU"), counted(study.workloads.size(), "workload")));
  print_message(fmt::format("{:<12} {}\n", "points", plan.points.size()));
  if (plan.left_out != 0) print_message(fmt::format("{:<12} {}, by conditions\n", "left out", plan.left_out));
  if (done != 0) print_message(fmt::format("{:<12} {}, by an earlier sweep\n", "done", done));
  if (impossible == 0) return;
  print_message(fmt::format("{:<12} {}, which are written down and not run:\n", "impossible", impossible));
  std::size_t shown = 0;
  std::string last;
  for (const Point& p : plan.points) {
    if (p.impossible.empty() || settings_text(p) == last) continue;
    last = settings_text(p);
    if (++shown > kShownImpossible) break;
    print_message(fmt::format("  {}: {}\n", last, p.impossible));
  }
  if (shown > kShownImpossible) print_message("  and more\n");
}

bool has_row(const std::vector<std::size_t>& done, const Point& point) {
  return std::binary_search(done.begin(), done.end(), point.number);
}

/// The points that have no row.
std::vector<const Point*> missing(const Plan& plan, const ResultStore& store) {
  const std::vector<std::size_t> done = store.done();
  std::vector<const Point*> out;
  for (const Point& p : plan.points)
    if (!has_row(done, p)) out.push_back(&p);
  return out;
}

void print_estimate(const Study& study, const Plan& plan, const ResultStore& store, unsigned jobs) {
  const std::vector<std::size_t> done = store.done();
  double seconds = 0;
  std::uint64_t bytes = 0;
  bool known = true;
  for (std::size_t w = 0; w < study.workloads.size(); ++w) {
    const auto cost = store.cost_of(study.workloads[w].name);
    std::size_t left = 0;
    for (const Point& p : plan.points)
      left += p.workload == w && p.impossible.empty() && !has_row(done, p) ? 1 : 0;
    if (left == 0) continue;
    if (!cost) {
      known = false;
      continue;
    }
    seconds += cost->seconds * static_cast<double>(left);
    bytes = std::max(bytes, cost->bytes);
  }
  if (!known) {
    print_message(fmt::format("{:<12} none: a workload's first point did not run\n", "estimate"));
  } else if (seconds > 0) {
    print_message(fmt::format("{:<12} {} more with {}, {:.0f} MiB of memory at a time, by the runs so far\n",
                              "estimate", duration(seconds / jobs), counted(jobs, "job"),
                              static_cast<double>(bytes) * jobs / (1U << 20U)));
  }
}

/// Seconds of each point that can be run: of its own run, however that ended; else of one of the same
/// workload, drawn from those that there are. Nothing: a workload has none that did more than to be refused
/// or lost.
std::optional<std::vector<double>> seconds_of_runs(const Study& study, const Plan& plan,
                                                   const ResultStore& store) {
  std::map<std::size_t, double> own;
  std::map<std::string, std::vector<double>> known;
  store.ask("SELECT point, workload, wall_s, outcome FROM runs WHERE outcome <> 'impossible' ORDER BY point",
            [&](const ResultStore::Row& row) {
              double seconds = row.real(2);
              // Others may have written to the file.
              if (!std::isfinite(seconds) || seconds < 0) return;
              if (row.text(3) == "too long") seconds = study.limit_s.value_or(seconds);
              own[static_cast<std::size_t>(row.number(0))] = seconds;
              known[row.text(1)].push_back(seconds);
            });
  std::vector<bool> unknown;
  for (const sweep::Workload& w : study.workloads) unknown.push_back(!store.cost_of(w.name));
  Random random(1);
  std::vector<double> out;
  for (const Point& p : plan.points) {
    if (!p.impossible.empty()) continue;
    const auto found = own.find(p.number);
    const std::vector<double>& drawn = known[study.workloads[p.workload].name];
    if (unknown[p.workload]) return std::nullopt;
    out.push_back(found != own.end() ? found->second : drawn[random.below(drawn.size())]);
  }
  return out;
}

/// How the whole study would go with more and more workers of an MPI job, by simulation.
void print_forecasts(const SweepOptions& o, const Study& study, const Plan& plan, const ResultStore& store) {
  const auto runs = seconds_of_runs(study, plan, store);
  if (!runs || runs->empty()) {
    print_message(fmt::format("{:<12} none: {}\n", "forecast",
                              runs ? "there is nothing to run" : "a workload has no run"));
    return;
  }
  double sum = 0;
  for (const double seconds : *runs) sum += seconds;
  print_message(fmt::format("{:<12} {} of {} on average, the longest {}, by simulation\n", "forecast",
                            counted(runs->size(), "run"), duration(sum / static_cast<double>(runs->size())),
                            duration(*std::max_element(runs->begin(), runs->end()))));
  const char* const limits[] = {"-", "manager", "messages", "last runs", "points"};
  std::vector<std::vector<std::string>> rows = {
      {"workers", "time", "speed-up", "efficiency", "manager busy", "limit"}};
  for (const std::size_t workers : o.workers) {
    const Forecast f = forecast(*runs, workers, ManagerCosts::of(study));
    rows.push_back({std::to_string(f.workers), duration(f.wall_s), fmt::format("{:.1f}", f.speed_up),
                    fmt::format("{:.1f}%", 100 * f.efficiency), fmt::format("{:.1f}%", 100 * f.manager_busy),
                    limits[static_cast<std::size_t>(f.limit)]});
  }
  print_result(table_text(rows, {5}));
}

/// The same by the runs that a file of results has: nothing is run for it.
int foretell(const SweepOptions& o, const Study& study, const Plan& plan) {
  const ResultStore store(o.results, ResultStore::Access::read);
  if (store.told("text") != study.text)
    return bad_input(o.results + ": has the results of a study of another text (\"" + store.told("name") +
                     "\")");
  print_plan(study, plan, store.done().size());
  print_forecasts(o, study, plan, store);
  return kDone;
}

/// The points in the order of the first metric, least first, as far as they fit on a screen.
void print_best(const ResultStore& store) {
  std::vector<std::string> metrics = store.metrics();
  if (metrics.empty()) metrics = {"cycles"};
  std::vector<std::vector<std::string>> rows = store.table(metrics);
  std::vector<std::string> head = rows.front();
  rows.erase(rows.begin());
  const std::size_t outcome =
      static_cast<std::size_t>(std::find(head.begin(), head.end(), "outcome") - head.begin());
  const std::size_t metric = outcome + 2;
  rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const auto& r) { return r[metric].empty(); }),
             rows.end());
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return std::strtod(a[metric].c_str(), nullptr) < std::strtod(b[metric].c_str(), nullptr);
  });
  const std::size_t all = rows.size();
  if (all == 0) return;
  rows.resize(std::min(all, kShownPoints));
  rows.insert(rows.begin(), head);
  for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(outcome + 1));  // the reason
  print_result(table_text(rows, {1, 2, outcome}));
  if (all > kShownPoints)
    print_result(fmt::format("and {} more; `warpline export --csv` has them all\n", all - kShownPoints));
}

int report(const SweepOptions& o, const Plan& plan, const ResultStore& store, bool stopped) {
  const std::size_t left = missing(plan, store).size();
  std::vector<std::string> ends;
  bool all_finished = true;
  if (!o.quiet) print_best(store);
  for (const ResultStore::Ending& e : store.endings()) {
    ends.push_back(fmt::format("{} {}", e.rows, e.outcome));
    if (e.outcome == "finished") continue;
    print_message(fmt::format("{}, point {}: {}\n", e.outcome, e.first, e.reason));
    if (e.outcome != "impossible") all_finished = false;
  }
  print_message(fmt::format("{}: {}{}\n", o.results, ends.empty() ? "nothing" : joined(ends),
                            left == 0
                                ? ""
                                : fmt::format("; {} left, which {} goes on with", counted(left, "point"),
                                              o.collect.empty() ? "the same command" : "the job")));
  if (stopped) return kInterrupted;
  return all_finished ? kDone : kCheckFailed;
}

/// Runs at a time of a rank: of those that share a machine, each is one process for mpirun.
unsigned mpi_jobs(const SweepOptions& o) {
  return o.jobs != 0 ? o.jobs : 1;
}

unsigned places_of_others(const SweepOptions& o) {
  return o.others == nullptr ? 0 : static_cast<unsigned>(o.others->places());
}

int work(const SweepOptions& o, const Study& study, const Plan& plan, const std::string& results) {
  ResultStore store(results, ResultStore::Access::write);
  store.begin(study, WARPLINE_VERSION);
  if (o.retry) store.forget_unfinished();
  if (const std::vector<std::string> changed = store.changed_files(); !changed.empty())
    return bad_input(results + ": " + changed.front(), "begin another file of results with --results");
  if (!o.quiet || o.plan) print_plan(study, plan, store.done().size());
  Sweep::Options options;
  options.jobs = o.mpi ? mpi_jobs(o) : jobs_of(o.jobs);
  options.command = run_words;
  options.others = o.others;
  options.stop_wanted = is_stop_wanted;
  options.first_ones = true;
  const StopSignals signals;
  Sweep::Outcome outcome = Sweep(study, plan, store, options).run();
  if (!outcome.stopped && (!o.quiet || o.plan))
    print_estimate(study, plan, store, options.jobs + places_of_others(o));
  if (o.plan) {
    for (const ResultStore::Ending& e : store.endings())
      if (e.outcome != "finished")
        print_message(fmt::format("{}, point {}: {}\n", e.outcome, e.first, e.reason));
    if (!outcome.stopped && !o.workers.empty()) print_forecasts(o, study, plan, store);
    return outcome.stopped ? kInterrupted : kDone;
  }
  options.first_ones = false;
  if (!outcome.stopped) {
    ProgressBar bar(!o.quiet && is_terminal(2), 1, "points");
    bar.launch(0, study.name);
    options.on_progress = [&bar](std::size_t done, std::size_t of) {
      bar.update(static_cast<double>(done) / static_cast<double>(of), done);
    };
    outcome = Sweep(study, plan, store, options).run();
  }
  return report(o, plan, store, outcome.stopped);
}

/// Writes the script of an array job that runs the study.
int write_job(const SweepOptions& o, const Plan& plan) {
  const SlurmJob job(o.slurm);
  const std::size_t tasks = std::min(o.tasks != 0 ? o.tasks : kTasks, plan.points.size());
  if (const std::string why = job.write(o.study, tasks, jobs_of(o.jobs)); !why.empty())
    return bad_input("--slurm " + o.slurm + ": " + why);
  print_result(
      fmt::format("{} of {} by {}\n  {}\n  {}\n", job.script(), counted(plan.points.size(), "point"),
                  counted(tasks, "task"), shell_text({"sbatch", job.script()}),
                  shell_text({"warpline", "sweep", o.study, "--results", "FILE", "--collect", o.slurm})));
  return kDone;
}

/// Puts together what the tasks of an array job have done so far.
int collect(const SweepOptions& o, const Study& study, const Plan& plan) {
  const std::vector<SlurmJob::Part> parts = SlurmJob(o.collect).parts();
  if (parts.empty())
    return bad_input("--collect " + o.collect + ": no task has written results there",
                     "warpline sweep STUDY --slurm FOLDER, then sbatch");
  if (SlurmJob(o.collect).is_part(o.results))
    return bad_input("--results " + o.results + ": a task of the job writes this file",
                     "another file: what all tasks have done is put together there");
  ResultStore store(o.results, ResultStore::Access::write);
  store.begin(study, WARPLINE_VERSION);
  const StopSignals signals;
  std::size_t refused = 0;
  for (const SlurmJob::Part& part : parts) {
    if (is_stop_wanted()) return kInterrupted;
    if (ResultStore::somebody_writes(part.path)) {
      print_message(part.path + ": its task works on it, and is collected later\n");
      continue;
    }
    try {
      const std::size_t rows = store.take_from(part.path, study, WARPLINE_VERSION);
      if (rows != 0 && !o.quiet) print_message(fmt::format("{}: {}\n", part.path, counted(rows, "row")));
    } catch (const StoreError& e) {
      ++refused;
      print_error(part.path + ": " + e.what);
    }
  }
  const std::vector<const Point*> left = missing(plan, store);
  if (!left.empty() && refused == 0) {
    const std::size_t of = parts.back().share.of;
    std::set<std::size_t> shares;
    for (const Point* p : left) shares.insert(p->number % of);
    std::vector<std::string> numbers;
    for (const std::size_t n : shares) numbers.push_back(std::to_string(n));
    print_message(
        fmt::format("missing are points of {}; these go on behind what they have:\n  {}\n",
                    counted(shares.size(), "task"),
                    shell_text({"sbatch", "--array=" + joined(numbers, ","), SlurmJob(o.collect).script()})));
  }
  const int status = report(o, plan, store, false);
  if (refused != 0) return kBadInput;
  return left.empty() ? status : kCheckFailed;
}

/// Options that do not go together, and why; nothing where all do.
std::string disagreement(const SweepOptions& o) {
  const bool slurm = !o.slurm.empty(), collects = !o.collect.empty(), shared = o.share.of != 1;
  if (!o.workers.empty() && !o.plan) return "--workers says for how many --plan foretells the time";
  if (o.plan && !o.results.empty() && o.workers.empty())
    return "--plan runs no study, and has no --results but for --workers";
  if (slurm && !o.results.empty()) return "--slurm writes a job alone: --results is for --collect";
  if (!o.plan && !slurm && o.results.empty()) return "--results FILE is missing";
  if (o.plan && !o.results.empty() && o.jobs != 0)
    return "--plan runs nothing where --results has runs: no --jobs";
  if (o.plan && (o.retry || o.quiet || slurm || collects || shared))
    return "--plan runs no study, and says what it comes to: no --retry, --quiet, --share, --slurm or "
           "--collect";
  if (slurm && (o.retry || o.quiet || collects || shared))
    return "--slurm writes a job alone: no --retry, --quiet, --share or --collect";
  if (collects && (o.retry || shared || o.jobs != 0))
    return "--collect runs nothing: no --retry, --share or --jobs";
  if (!slurm && o.tasks != 0) return "--tasks belongs to --slurm";
  if (o.mpi && (o.plan || slurm || collects)) return "--mpi runs a study: no --plan, --slurm or --collect";
  return {};
}

int run_here(const SweepOptions& o) {
  if (const std::string why = disagreement(o); !why.empty())
    return bad_input(why, o.results.empty() && !o.plan ? "--plan tells what the study comes to" : "");
  const Result<Study> study = read_study(o.study);
  if (!study.ok()) return bad_input(study.faults());
  const Result<Plan> plan = plan_of(study.value(), o.share);
  if (!plan.ok()) return bad_input(plan.faults());
  if (plan.value().points.empty() && o.share.of == 1)
    return bad_input(o.study + ": the conditions leave no point", "require and exclude");
  if (o.collect.empty())
    if (const Diagnostics faults = unknown_names(study.value(), plan.value()); !faults.empty())
      return bad_input(faults);
  try {
    if (!o.slurm.empty()) return write_job(o, plan.value());
    if (!o.collect.empty()) return collect(o, study.value(), plan.value());
    if (!o.plan) return work(o, study.value(), plan.value(), o.results);
    if (!o.results.empty()) return foretell(o, study.value(), plan.value());
    const ScratchFile scratch;
    return work(o, study.value(), plan.value(), scratch.path());
  } catch (const StoreError& e) {
    return bad_input((o.results.empty() ? "the plan" : o.results) + ": " + e.what);
  } catch (const std::system_error& e) {
    return bad_input(std::string("a run could not be begun: ") + e.what(), "fewer --jobs");
  }
}

/// The processes of an MPI job as those that work on a study.
class MpiMail final : public Mail {
 public:
  explicit MpiMail(MpiJob& job) : job_(job) {}
  [[nodiscard]] unsigned processes() const override { return job_.ranks(); }
  void post(unsigned to, std::string message) override { job_.post(to, std::move(message)); }
  [[nodiscard]] std::optional<std::pair<unsigned, std::string>> next() override { return job_.next(); }

 private:
  MpiJob& job_;
};

/// In one process of several: the first reads the study, hands out its points and writes their rows.
int run_by_mpi(const SweepOptions& o) {
  std::shared_ptr<MpiJob> job;
  try {
    job = MpiJob::start();
  } catch (const ExchangeError& error) {
    return bad_input(std::string("--mpi: ") + error.what());
  }
  std::string failure;
  try {
    MpiMail mail(*job);
    int status = kDone;
    if (job->rank() != 0) {
      const StopSignals signals;
      work_for_others(mail, WARPLINE_VERSION, mpi_jobs(o), run_words, is_stop_wanted);
    } else {
      if (job->ranks() == 1)
        print_message("note: --mpi: there is one process only; mpirun -n 2 warpline sweep ... starts two\n");
      RemoteRuns others(mail, WARPLINE_VERSION);
      SweepOptions here = o;
      here.others = &others;
      status = run_here(here);
    }
    job->end();
    return status;
  } catch (const ExchangeError& error) {
    failure = error.what();
  } catch (const RemoteError& error) {
    failure = error.what;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // Others may wait for this one.
  print_error("--mpi: " + failure);
  job->abort(kBadInput);
}

int run_sweep(const SweepOptions& o) {
  return o.mpi ? run_by_mpi(o) : run_here(o);
}

struct ExportOptions {
  std::string results, csv = "/dev/stdout", table = "points";
  std::vector<std::string> metrics;
};

/// The metrics that were asked for: as they are, or all whose paths match a pattern.
int run_export(const ExportOptions& o) {
  if (o.table != "points" && !o.metrics.empty())
    return bad_input("--metrics: " + o.table + " have columns of their own", "metrics are of --table points");
  try {
    const ResultStore store(o.results, ResultStore::Access::read);
    std::vector<std::string> known = ResultStore::figures();
    for (const std::string& path : store.totals()) known.push_back(path);
    std::vector<std::string> metrics;
    for (const std::string& wanted : o.metrics) {
      const std::size_t before = metrics.size();
      for (const std::string& name : known)
        if (glob_matches(wanted, name) && std::find(metrics.begin(), metrics.end(), name) == metrics.end())
          metrics.push_back(name);
      if (metrics.size() == before && std::none_of(known.begin(), known.end(), [&](const std::string& name) {
            return glob_matches(wanted, name);
          }))
        return bad_input("--metrics: nothing is called " + wanted, did_you_mean(wanted, known));
    }
    if (o.metrics.empty()) metrics = known;
    const std::string text = o.table == "stalls"   ? store.stalls_csv()
                             : o.table == "lines"  ? store.lines_csv()
                             : o.table == "series" ? store.series_csv()
                                                   : store.csv(metrics);
    if (o.csv == "/dev/stdout" || o.csv == "-") {
      print_coloured_result(text);
      return kDone;
    }
    const std::string why = write_file_atomically(o.csv, text);
    return why.empty() ? kDone : bad_input(o.csv + ": " + why);
  } catch (const StoreError& e) {
    return bad_input(o.results + ": " + e.what);
  }
}

struct DiffOptions {
  std::string first, second;
  DifferenceOptions shown;
};

int run_diff(const DiffOptions& o) {
  const Result<std::string> text = difference_of(o.first, o.second, o.shown);
  if (!text.ok()) return bad_input(text.faults());
  print_result(text.value());
  return kDone;
}

}  // namespace

void add_sweep(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("sweep", "Runs a study: many GPUs and workloads, into one file of results");
  SweepOptions& o = options_of(command, status, run_sweep);
  command.add_option("STUDY", o.study, "the study (TOML): GPUs, keys with their values, workloads")
      ->required();
  command.add_option("--results", o.results,
                     "SQLite file; where it has rows already, the study goes on behind them");
  add_jobs(command, o.jobs);
  command.add_flag("--plan", o.plan,
                   "only tells how many points there are, which are impossible, and what it would take");
  add_numbers(command, "--workers", o.workers, {1, kMostWorkers},
              "of --plan: how long the study would take with so many (numbers between commas), by simulation "
              "of who hands out points to them, and of runs as --results has them, or of first runs");
  command.add_flag("--retry", o.retry,
                   "runs those again that were refused, lost, interrupted or took too long");
  command.add_flag("--quiet", o.quiet, "no plan, no progress bar and no table");
  command
      .add_option_function<std::string>(
          "--share",
          [&o](const std::string& text) {
            const std::size_t slash = std::min(text.find('/'), text.size());
            const auto index = number_from<std::size_t>(text.substr(0, slash));
            const auto of =
                slash == text.size() ? std::nullopt : number_from<std::size_t>(text.substr(slash + 1));
            if (!index || !of || *index >= *of)
              throw CLI::ValidationError("--share", "\"" + text + "\" is no K/N with K from 0 to N-1");
            o.share = {*index, *of};
          },
          "K/N: of every N points the one from K, which is 0 or more; points keep their numbers")
      ->type_name("K/N");
  command.add_flag("--mpi", o.mpi,
                   "this is one of several processes (mpirun -n 4 warpline sweep --mpi ...): the first hands "
                   "out points to all; --jobs is of each, and 1 unless said");
  command.add_option("--slurm", o.slurm,
                     "folder: writes an array job for sbatch there, whose tasks run shares of the study");
  command.add_option("--tasks", o.tasks, "of that job; 16 unless said")
      ->check(CLI::Range(std::size_t{1}, kMostTasks));
  command.add_option("--collect", o.collect,
                     "folder of such a job: what its tasks have done goes into --results");
  command.footer(
      "Exit status: 0 all finished; 1 some did not; 2 bad input; 130 interrupted.\n"
      "Example: warpline sweep study.toml --jobs 2 --results study.sqlite");
}

void add_export(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand("export", "Writes the results of a study as a table");
  ExportOptions& o = options_of(command, status, run_export);
  command.add_option("RESULTS", o.results, "the file that `warpline sweep` wrote")->required();
  command.add_option("--csv", o.csv, "file for the table, as comma-separated values")->capture_default_str();
  command
      .add_option("--metrics", o.metrics,
                  "figures and counters that it has, or patterns of them; all, unless said")
      ->delimiter(',');
  command
      .add_option("--table", o.table,
                  "what it has rows of: points; stalls (warp-cycles by line and reason) or lines (what each "
                  "did), of a study with profile = true; series (figures over time), of one with sample")
      ->check(CLI::IsMember({"points", "stalls", "lines", "series"}))
      ->capture_default_str();
  command.footer("Example: warpline export study.sqlite --csv study.csv --metrics cycles,dram.*");
}

void add_diff(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("diff", "Says what two runs differ in, what explains most of it first");
  DiffOptions& o = options_of(command, status, run_diff);
  command.add_option("FIRST", o.first, "statistics of a run (--stats)")->required();
  command.add_option("SECOND", o.second, "those of another")->required();
  command.add_option("--threshold", o.shown.threshold, "per cent: counters that differ by less are left out")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command.add_flag("--instances", o.shown.instances, "counters of each block, too");
  command.footer("Example: warpline diff before.json after.json");
}

}  // namespace warpline
