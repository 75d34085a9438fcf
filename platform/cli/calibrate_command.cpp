#include <fmt/format.h>

#include <algorithm>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/fit_command.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/shared_options.h"
#include "platform/study/calibration.h"
#include "platform/study/calibration_report.h"
#include "platform/study/cuda_device.h"
#include "platform/study/microbench_texts.h"
#include "platform/study/model_device.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"
#include "rtl_models/document/output_file.h"

namespace warpline {
namespace {

struct CalibrateOptions {
  GpuChoice gpu;
  FitRequest fit;
  std::string rows_file;
  std::vector<std::string> rows;  ///< patterns of their names
  std::string kind;
  std::string report, json;  ///< files to write
  std::string measure;       ///< a file of rows to write, of what a CUDA device does
  unsigned repeat = 5;       ///< with --measure
  unsigned device = 0;
  bool brief = false, list = false, quantities = false, quiet = false;
};

using Rows = std::vector<const study::MeasuredRow*>;

std::string quantities_text() {
  std::string out;
  for (const study::Quantity& q : study::quantities()) {
    std::string keys;
    for (const study::NumberArgument& n : q.numbers)
      keys += n.required ? fmt::format(" {}=N", n.name) : fmt::format(" [{}=N]", n.name);
    for (const study::WordArgument& w : q.words) {
      const std::vector<std::string> words(w.words.begin(), w.words.end());
      keys += fmt::format(" [{}={}]", w.name, joined(words, "|"));
    }
    out += fmt::format("{:<16} {}\n{:<16}{}\n", q.name, q.meaning, "", keys.empty() ? " no arguments" : keys);
  }
  return out;
}

/// The rows that the options ask for, of the GPU that is called `gpu`.
Rows chosen_rows(const CalibrateOptions& o, const std::vector<study::MeasuredRow>& rows,
                 const std::string& gpu) {
  Rows out;
  for (const study::MeasuredRow& row : rows) {
    const bool named = o.rows.empty() ||
                       std::any_of(o.rows.begin(), o.rows.end(),
                                   [&](const std::string& pattern) { return glob_matches(pattern, row.id); });
    if (named && whole_preset_name(row.gpu) == whole_preset_name(gpu) &&
        (o.kind.empty() || row.kind == o.kind) && (!o.brief || row.brief))
      out.push_back(&row);
  }
  return out;
}

/// Nothing is asked for: a mistake of the command line.
int nothing_chosen(const CalibrateOptions& o, const std::vector<study::MeasuredRow>& rows) {
  std::vector<std::string> gpus, kinds, own;  // `own`: classes of this GPU's rows
  const auto note = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  for (const study::MeasuredRow& row : rows) {
    note(gpus, row.gpu);
    note(kinds, row.kind);
    if (whole_preset_name(row.gpu) == whole_preset_name(o.gpu.name)) note(own, row.kind);
  }
  std::string hint = "there are rows of " + joined(gpus);
  if (!own.empty()) hint = "it has rows of the classes " + joined(own) + "; --list names them all";
  if (!o.kind.empty() && std::find(kinds.begin(), kinds.end(), o.kind) == kinds.end())
    hint = did_you_mean(o.kind, kinds) + " (classes: " + joined(kinds) + ")";
  return bad_input("no published row of " + o.gpu.name + " is asked for", hint);
}

/// Writes a file whole. Returns the exit status.
int write_whole(const std::string& path, const std::string& text) {
  OutputFile file;
  std::string why = file.open(path);
  if (why.empty()) {
    file.write(text);
    why = file.close();
  }
  return why.empty() ? kDone : bad_input(path + ": " + why);
}

/// Measures rows on hardware, and writes a file of rows for it.
int measure_on_gpu(const CalibrateOptions& o, const std::vector<study::MeasuredRow>& rows) {
  const Rows asked = chosen_rows(o, rows, o.gpu.name);
  if (asked.empty()) return nothing_chosen(o, rows);
  try {
    study::CudaDevice device(o.device);
    std::vector<study::MeasuredRow> measured;
    ProgressBar bar(!o.quiet && is_terminal(2), 1, "rows");
    bar.launch(0, device.name());
    std::size_t done = 0;
    for (const study::MeasuredRow* row : asked) {
      if (row->quantity == nullptr) continue;
      const study::RowResult r = study::measure_often(device, *row, o.repeat);
      ++done;
      bar.update(static_cast<double>(done) / static_cast<double>(asked.size()), done);
      if (!r.answered) {
        bar.clear();
        print_message("warning: " + row->id + ": " + r.refused + "\n");
        continue;
      }
      measured.push_back(*row);
      measured.back().id = "own." + row->id;
      measured.back().value = r.measured;
      measured.back().source = "measured on " + device.name();
    }
    bar.clear();
    if (measured.empty()) return bad_input("no row could be measured on " + device.name());
    const int status = write_whole(o.measure, study::rows_toml(measured));
    if (status == kDone)
      print_result(fmt::format("{} rows of {} in {}\n", measured.size(), device.name(), o.measure));
    return status;
  } catch (const study::BenchError& e) {
    return bad_input(e.what, "--measure needs an NVIDIA GPU and its driver (libcuda.so.1)");
  }
}

int calibrate(const CalibrateOptions& o) {
  if (o.quantities) {
    print_result(quantities_text());
    return kDone;
  }
  std::string file = "rows.toml (built in)", text = study::microbench_rows();
  if (!o.rows_file.empty()) {
    Result<std::string> read = read_file(o.rows_file);
    if (!read.ok()) return bad_input(read.faults());
    file = o.rows_file;
    text = std::move(read.value());
  }
  const auto rows = study::read_rows(file, text);
  if (!rows.ok()) return bad_input(rows.faults());
  if (!o.fit.keys.empty()) {
    FitRequest request = o.fit;
    request.rows = o.rows_file;
    return fit(request, o.gpu, rows.value(), o.json, o.quiet);
  }
  for (const std::string& path : {o.report, o.json, o.measure})
    if (!path.empty())
      if (const std::string why = OutputFile::refusal(path); !why.empty())
        return bad_input(path + ": " + why);
  if (!o.measure.empty()) return measure_on_gpu(o, rows.value());
  std::vector<std::string> gpus = {o.gpu.name};
  if (o.gpu.name == "all") gpus = preset_names();
  std::vector<std::pair<GpuConfig, Rows>> chosen;
  for (const std::string& name : gpus) {
    const auto loaded = load_gpu(name, o.gpu.sets);
    if (!loaded.ok()) return bad_input(loaded.faults());
    // A file is called after itself, and its rows are those that say so.
    Rows own = chosen_rows(o, rows.value(), loaded.value().name);
    if (!own.empty()) chosen.emplace_back(loaded.value(), std::move(own));
  }
  if (chosen.empty()) return nothing_chosen(o, rows.value());
  std::vector<study::RowResult> results;
  if (o.list) {
    for (const auto& [config, own] : chosen)
      for (const study::MeasuredRow* row : own)
        results.push_back({row, false, 0, row->quantity == nullptr ? row->refused : row->source, 0});
    print_result(study::rows_text(results));
    return kDone;
  }
  ProgressBar bar(!o.quiet && is_terminal(2), chosen.size(), "rows");
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const auto& [config, own] = chosen[n];
    bar.launch(n, config.name);
    study::ModelDevice device(config);
    std::size_t done = 0;
    for (const study::MeasuredRow* row : own) {
      results.push_back(study::measure(device, *row));
      bar.update(static_cast<double>(++done) / static_cast<double>(own.size()), results.size());
    }
  }
  bar.clear();
  print_result(study::rows_text(results) + "\n" + study::summary_text(study::summarise(results)));
  int status = kDone;
  if (!o.report.empty())
    status = std::max(status,
                      write_whole(o.report, study::calibration_html(o.gpu.name, WARPLINE_VERSION, results)));
  if (!o.json.empty())
    status = std::max(status, write_whole(o.json, study::calibration_json(o.gpu.name, results)));
  return status;
}

}  // namespace

void add_calibrate(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "calibrate", "Repeats published measurements of a GPU on its model, and tells the errors by class");
  CalibrateOptions& o = options_of(command, status, calibrate);
  o.gpu.name = "all";
  command.add_option("GPU", o.gpu.name, "preset, TOML file, or all")->capture_default_str();
  o.gpu.add_set(command, "key.path=value changes the GPU; may be repeated");
  CLI::Option* const row =
      command
          .add_option("--row", o.rows,
                      "only rows whose names fit the pattern (V100.chase.*); may be repeated")
          ->allow_extra_args(false);
  CLI::Option* const kind = command.add_option("--class", o.kind, "only rows of this class");
  command.add_option("--rows", o.rows_file, "a file of rows in place of those built in");
  CLI::Option* const brief =
      command.add_flag("--brief", o.brief, "only rows that are measured in about a second each");
  CLI::Option* const report =
      command.add_option("--report", o.report, "writes a page of HTML with curves and all rows");
  CLI::Option* const json = command.add_option("--json", o.json, "writes the results as JSON");
  CLI::Option* const measure = command.add_option(
      "--measure", o.measure,
      "measures the rows of GPU on this host's NVIDIA GPU instead, and writes a file for --rows");
  command.add_option("--device", o.device, "with --measure, the number of the GPU")
      ->capture_default_str()
      ->needs(measure);
  command
      .add_option("--repeat", o.repeat, "with --measure, how often each row is measured; the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1001))
      ->needs(measure);
  CLI::Option* const list =
      command.add_flag("--list", o.list, "lists the rows and who has measured them; measures nothing");
  for (CLI::Option* output : {report, json}) output->excludes(measure)->excludes(list);
  list->excludes(measure);
  CLI::Option* const fit_keys = add_fit_options(command, o.fit);
  for (CLI::Option* other : {row, kind, brief, report, measure, list}) fit_keys->excludes(other);
  command.add_flag("--quantities", o.quantities, "lists what rows can be measured as, with arguments");
  command.add_flag("--quiet", o.quiet, "no progress");
  command.footer("Example: warpline calibrate v100 --class latency");
}

}  // namespace warpline
