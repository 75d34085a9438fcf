#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/exit_status.h"
#include "platform/cli/output_check.h"
#include "platform/cli/request_check.h"
#include "platform/cli/shared_options.h"
#include "platform/cuda/launcher.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/ptx/module.h"
#include "platform/report/run_statistics.h"
#include "platform/series/series_figures.h"

namespace warpline {
namespace {

struct ExecOptions {
  GpuChoice gpu;
  std::string report, profile, latency, reuse, series;
  std::optional<Cycle> sample;
  std::vector<std::string> figures;
  bool fast_forward = false, keep_warm = false;
  std::vector<std::string> measure;
  bool exact_bounds = false;
  bool children = false;
  std::string schedule;
  unsigned threads = 1;
  bool verbose = false;
  std::string live;
  std::vector<std::string> command;
};

/// Which of --series and its options do not go together or name what is not there; nothing where all is well.
Diagnostics series_faults(const ExecOptions& o, const GpuConfig& gpu) {
  if (o.sample == Cycle{0})
    return {
        Diagnostic::about("--sample", "it must be at least 1: it is the cycles that each row stands for")};
  if (o.series.empty() && (o.sample || !o.figures.empty()))
    return {Diagnostic::about(o.sample ? "--sample" : "--figures",
                              "it says what --series has, which is not given")};
  if (o.figures.empty()) return {};
  GpuPlatform platform(gpu, {});
  platform.build();
  CounterTable table;
  static_cast<void>(table.read([&](CounterVisitor& visitor) { platform.visit(visitor); }));
  const auto named = figures_named(o.figures, gpu, table.entries());
  return named.ok() ? Diagnostics{} : named.faults();
}

int exec(const ExecOptions& o) {
  if (!o.live.empty())
    return bad_input(
        "--live watches what `warpline run` runs in its own process, and exec becomes the program");
  // What is wrong with the GPU is said here, and not in the middle of the program.
  const Result<GpuConfig> gpu = o.gpu.load();
  if (!gpu.ok()) return bad_input(gpu.faults());
  if (const Diagnostics faults = series_faults(o, gpu.value()); !faults.empty()) return bad_input(faults);
  if (!o.schedule.empty() && !is_one_of("--schedule", o.schedule, ptx::schedule_names())) return kBadInput;
  if (o.keep_warm && !o.fast_forward && o.measure.empty())
    return bad_input("--keep-warm says how grids run that are not timed, and all are",
                     "--fast-forward or --measure KERNEL");
  OutputCheck outputs;
  outputs.add_output("--report", o.report);
  outputs.add_output("--profile", o.profile);
  outputs.add_output("--latency", o.latency);
  outputs.add_output("--reuse", o.reuse);
  outputs.add_output("--series", o.series);
  if (!outputs.faults().empty()) return bad_input(outputs.faults());
  cuda::ExecRequest request;
  request.gpu = o.gpu.name;
  request.sets = o.gpu.sets;
  request.report = o.report;
  request.profile = o.profile;
  request.latency = o.latency;
  request.reuse = o.reuse;
  request.series = o.series;
  if (o.sample) request.sample = std::to_string(*o.sample);
  request.figures = o.figures;
  request.fast_forward = o.fast_forward;
  request.keep_warm = o.keep_warm;
  request.measure = o.measure;
  request.exact_bounds = o.exact_bounds;
  request.children = o.children;
  request.schedule = o.schedule;
  request.threads = o.threads;
  request.command = o.command;
  const Result<cuda::ExecPlan> plan = cuda::plan_exec(request, cuda::library_folder());
  if (!plan.ok()) return bad_input(plan.faults());
  for (const std::string& warning : plan.value().warnings) print_message("warning: " + warning + "\n");
  if (o.verbose)
    for (const std::string& note : plan.value().notes) print_message("note: " + note + "\n");
  return bad_input(o.command.front() + " cannot be started: " + cuda::become(request, plan.value()));
}

}  // namespace

void add_exec(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand("exec", "run an unmodified CUDA program on the platform");
  ExecOptions& o = options_of<ExecOptions>(command, status, exec);
  o.gpu.name = "a100";
  o.gpu.add_options(command);
  command.add_option("--report", o.report, "file for what the program did on the GPU, as JSON");
  command.add_option("--live", o.live, "")->group("");  // refused, with the reason
  command.add_option("--profile", o.profile,
                     "file for what warps did and waited for, line by line (`warpline profile show`); with "
                     "--children, FILE.PID for each process");
  command.add_option(
      "--latency", o.latency,
      "file for where requests of SMs spent their time, block by block: a table, or JSON if it "
      "ends in .json; with --children, FILE.PID, and so for the next two");
  command.add_option(
      "--reuse", o.reuse,
      "file for how memory was used (what was touched, how soon again, by how many SMs, what was "
      "fetched in vain): tables, or JSON if it ends in .json");
  command.add_option("--series", o.series,
                     "CSV file for figures over time: a row for every --sample cycles of each timed grid");
  command
      .add_option("--sample", o.sample,
                  "of --series: cycles of a row, which are 1000 unless this says otherwise")
      ->transform(kWholeNumber)
      ->type_name("CYCLES");
  command
      .add_option("--figures", o.figures,
                  "of --series: which figures, as of `warpline run`, between commas; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command.add_flag("--fast-forward", o.fast_forward,
                   "run all grids functionally, with results and no time, but for those of --measure");
  command
      .add_option("--measure", o.measure,
                  "KERNEL or KERNEL:N: time the first N grids of it, and run others functionally")
      ->allow_extra_args(false);
  command.add_flag("--keep-warm", o.keep_warm,
                   "run grids that are not timed loosely timed, which takes longer, and leaves the caches as "
                   "warm as they would be");
  command.add_flag("--exact-bounds", o.exact_bounds,
                   "an access a little out of a buffer is a fault, which GPUs let pass within their pages");
  command.add_flag("--children", o.children, "programs that it starts run on the platform, too");
  command.add_option("--schedule", o.schedule,
                     "the order of instructions: ptx (the text's) or assembler (as ptxas would have it; the "
                     "default)");
  add_threads(command, o.threads);
  command.add_flag("--verbose", o.verbose, "say how the program's CUDA is reached");
  command.add_option("PROGRAM", o.command, "the program and its arguments, behind `--`")->required();
  command.positionals_at_end();
}

}  // namespace warpline
