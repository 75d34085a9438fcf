#include <algorithm>
#include <cmath>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/exit_status.h"
#include "platform/cli/request_check.h"
#include "platform/cli/shared_options.h"
#include "platform/metrics/energy.h"
#include "platform/metrics/nsight_metrics.h"
#include "platform/metrics/roofline.h"
#include "rtl_models/base/glob.h"

namespace warpline {
namespace {

struct MetricsOptions {
  std::string path, kernel;
  std::vector<std::string> metrics{"*"};
  bool list = false, energy = false, roofline = false;
};

int run_metrics(const MetricsOptions& o) {
  if (o.list && (!o.path.empty() || o.energy || o.roofline || !o.kernel.empty()))
    return bad_input({Diagnostic::about("--list", "it lists metrics, and reads no file")});
  if (o.list) {
    print_result(metrics_reference() + "\n" + energy_figures());
    return kDone;
  }
  if (o.path.empty())
    return bad_input({Diagnostic::about("metrics", "a file of `run --stats` or `exec --report` is needed")});
  const auto metrics = NsightMetric::named(o.metrics);
  if (!metrics.ok()) return bad_input(metrics.faults());
  auto sources = read_metric_sources(o.path);
  if (!sources.ok()) return bad_input(sources.faults());
  std::vector<MetricSource> shown = std::move(sources.value());
  const char* const what = o.energy ? "--energy" : o.roofline ? "--roofline" : "--metrics";
  if (!metrics_fit(what, shown.front().transport)) return kBadInput;
  if (!o.kernel.empty()) {
    std::vector<std::string> names;
    for (const MetricSource& s : shown) names.push_back(s.name);
    const auto other = [&](const MetricSource& s) {
      return s.name.empty() || !glob_matches(o.kernel, s.name);
    };
    shown.erase(std::remove_if(shown.begin(), shown.end(), other), shown.end());
    if (shown.empty())
      return bad_input({Diagnostic::about("--kernel", "no kernel is called \"" + o.kernel + "\"",
                                          did_you_mean(o.kernel, names))});
  }
  if (o.roofline && std::isnan(shown.front().key("sms")))
    return bad_input({Diagnostic::about(
        "--roofline", "what the GPU could do at most is not known: " + o.path + " has no configuration",
        "`warpline run --stats` writes it")});
  print_result(o.energy     ? energy_text(shown)
               : o.roofline ? roofline_text(shown)
                            : metrics_text(metrics.value(), shown));
  return kDone;
}

}  // namespace

void add_metrics(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("metrics", "Shows what a run has counted by the names of Nsight Compute");
  MetricsOptions& o = options_of(command, status, run_metrics);
  command.add_option("FILE", o.path, "what `run --stats` or `exec --report` wrote");
  CLI::Option* const metrics =
      command.add_option("--metrics", o.metrics, "names or patterns of them, with commas between")
          ->delimiter(',')
          ->allow_extra_args(false);
  command.add_option("--kernel", o.kernel, "only kernels whose name matches this pattern");
  command.add_flag("--energy", o.energy, "show an estimate of the energy instead, by figures of an H200")
      ->excludes(metrics);
  command
      .add_flag(
          "--roofline", o.roofline,
          "show instead how near the roofs of DRAM, L2 and issue slots it came, of a file of `run --stats`")
      ->excludes(metrics)
      ->excludes("--energy");
  command.add_flag("--list", o.list,
                   "print all metrics, what they are here, and where they differ, as Markdown");
  command.footer("Example: warpline metrics stats.json --metrics 'lts__*,dram__bytes_read.sum.per_second'");
}

}  // namespace warpline
