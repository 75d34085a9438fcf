#include <algorithm>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/output_check.h"
#include "platform/sweep_report/sweep_report.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

struct ReportCommandOptions {
  std::string results, output;
  sweep::ReportOptions shown;
  std::vector<std::string> pareto, heat;
};

int run_report(const ReportCommandOptions& o) {
  sweep::ReportOptions shown = o.shown;
  if (!o.pareto.empty()) shown.pareto = {o.pareto[0], o.pareto[1]};
  if (!o.heat.empty()) shown.heat = {o.heat[0], o.heat[1]};
  OutputCheck outputs;
  // What SQLite keeps beside the file is part of it.
  for (const char* end : {"", "-wal", "-shm"}) outputs.add_input(o.results + end, "the file of results");
  outputs.add_output("-o", o.output);
  if (!outputs.faults().empty()) return bad_input(outputs.faults());
  try {
    const sweep::ResultStore store(o.results, sweep::ResultStore::Access::read);
    const Result<std::string> page = sweep::study_report(store, o.results, shown);
    if (!page.ok()) return bad_input(page.faults());
    const std::string why = write_file_atomically(o.output, page.value());
    return why.empty() ? kDone : bad_input(o.output + ": " + why);
  } catch (const sweep::StoreError& e) {
    return bad_input(o.results + ": " + e.what);
  }
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand("report", "Writes a page of HTML about the results of a study");
  ReportCommandOptions& o = options_of(command, status, run_report);
  command.add_option("RESULTS", o.results, "the file that `warpline sweep` wrote")->required();
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
  command.footer("Example: warpline report study.sqlite -o study.html --pareto dram.channels,cycles");
}

}  // namespace warpline
