#include <algorithm>
#include <cstdint>
#include <optional>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/output_check.h"
#include "platform/cli/study_runs.h"
#include "platform/sweep/plain_runs.h"
#include "platform/sweep_report/sweep_report.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

struct ReportCommandOptions {
  std::vector<std::string> inputs;
  sweep::PlainRuns beside;  ///< of runs: profiles and series
  std::string output;
  sweep::ReportOptions shown;
  std::vector<std::string> pareto, heat;
};

int run_report(const ReportCommandOptions& o) {
  sweep::ReportOptions shown = o.shown;
  if (!o.pareto.empty()) shown.pareto = {o.pareto[0], o.pareto[1]};
  if (!o.heat.empty()) shown.heat = {o.heat[0], o.heat[1]};
  const bool is_study = o.inputs.size() == 1 && !ends_with(o.inputs[0], ".json");
  if (is_study && (!o.beside.profiles.empty() || !o.beside.series.empty()))
    return bad_input("--profile and --series belong to files of runs: a study keeps its own",
                     "profile = true and sample = 1000 in the study");
  OutputCheck outputs;
  // What SQLite keeps beside the file is part of it.
  if (is_study) {
    for (const char* end : {"", "-wal", "-shm"}) outputs.add_input(o.inputs[0] + end, "the file of results");
  } else {
    for (const std::vector<std::string>* files : {&o.inputs, &o.beside.profiles, &o.beside.series})
      for (const std::string& file : *files) outputs.add_input(file, "a file of a run");
  }
  outputs.add_output("-o", o.output);
  if (!outputs.faults().empty()) return bad_input(outputs.faults());
  const std::string name = joined(o.inputs);
  try {
    std::optional<ScratchFile> made;
    if (!is_study) {
      sweep::PlainRuns runs = o.beside;
      runs.statistics = o.inputs;
      made.emplace();
      if (const Diagnostics faults = sweep::store_runs(runs, made->path()); !faults.empty())
        return bad_input(faults);
    }
    const sweep::ResultStore store(made ? made->path() : name, sweep::ResultStore::Access::read);
    const Result<std::string> page = sweep::study_report(store, name, shown);
    if (!page.ok()) return bad_input(page.faults());
    const std::string why = write_file_atomically(o.output, page.value());
    return why.empty() ? kDone : bad_input(o.output + ": " + why);
  } catch (const sweep::StoreError& e) {
    return bad_input(name + ": " + e.what);
  }
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("report", "Writes a page of HTML about the results of a study, or about some runs");
  ReportCommandOptions& o = options_of(command, status, run_report);
  command
      .add_option("RESULTS", o.inputs,
                  "the file that `warpline sweep` wrote; or one or several that `warpline run --stats` did, "
                  "which end "
                  "in .json")
      ->required();
  command
      .add_option("--profile", o.beside.profiles,
                  "of runs: what `--profile` wrote, one for each in their order; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--series", o.beside.series,
                  "of runs: what `--series` wrote, one for each in their order; may be repeated")
      ->allow_extra_args(false);
  command.add_option("-o,--output", o.output, "the page, which needs no other file")->required();
  command.add_option("--title", o.shown.title, "heading of the page; the study's name, unless said");
  command
      .add_option(
          "--metrics", o.shown.metrics,
          "figures and counters that it shows; it judges by the first, of which less is better; those of the "
          "study, unless said")
      ->delimiter(',');
  command
      .add_option("--pareto", o.pareto,
                  "X,Y: figures, counters or keys of the plot of what is worth its price; size stands for "
                  "price, unless said")
      ->delimiter(',')
      ->expected(2);
  command.add_option("--heat", o.heat, "KEY,KEY of heat maps; the pairs that change most, unless said")
      ->delimiter(',')
      ->expected(2);
  add_numbers(
      command, "--points", o.shown.points, {0, SIZE_MAX},
      "points whose hottest lines and figures over time it shows beside those of the first, the worst "
      "and the best, of a study that keeps them");
  command.footer("Example: warpline report study.sqlite -o study.html --pareto dram.channels,cycles");
}

}  // namespace warpline
