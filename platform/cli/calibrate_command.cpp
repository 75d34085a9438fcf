#include <fmt/format.h>

#include <algorithm>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/shared_options.h"
#include "platform/study/calibration.h"
#include "platform/study/calibration_report.h"
#include "platform/study/cuda_device.h"
#include "platform/study/microbench_texts.h"
#include "platform/study/model_device.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/document/files.h"
#include "rtl_models/document/output_file.h"

namespace warpline {
namespace {

struct CalibrateOptions {
  GpuChoice gpu;
  std::string rows_file;
  std::vector<std::string> rows;  ///< patterns of their names
  std::string kind;
  std::string report, json;  ///< files to write
  std::string measure;       ///< a file of rows to write, of what a CUDA device does
  unsigned device = 0;
  bool brief = false, list = false, quantities = false, quiet = false;
};

std::string quantities_text() {
  std::string out;
  for (const study::Quantity& q : study::quantities()) {
    std::string keys;
    for (const char* key : q.numbers) keys += fmt::format(" {}=N", key);
    for (const char* key : q.words) keys += fmt::format(" {}=\"...\"", key);
    out += fmt::format("{:<16} {}\n{:<16}{}\n", q.name, q.meaning, "", keys.empty() ? " no arguments" : keys);
  }
  return out;
}

bool wanted(const CalibrateOptions& o, const study::MeasuredRow& row) {
  if ((!o.kind.empty() && row.kind != o.kind) || (o.brief && !row.brief)) return false;
  return o.rows.empty() || std::any_of(o.rows.begin(), o.rows.end(), [&](const std::string& pattern) {
           return glob_matches(pattern, row.id);
         });
}

/// Writes a file whole. Returns why it could not be, or an empty string.
std::string written(const std::string& path, const std::string& text) {
  OutputFile file;
  if (std::string why = file.open(path); !why.empty()) return why;
  file.write(text);
  return file.close();
}

/// Measures rows on hardware, and writes a file of rows for it.
int measure_on_gpu(const CalibrateOptions& o, const std::vector<study::MeasuredRow>& rows) {
  try {
    study::CudaDevice device(o.device);
    std::vector<study::MeasuredRow> measured;
    ProgressBar bar(!o.quiet && is_terminal(2), 1, "rows");
    bar.launch(0, device.name());
    for (const study::MeasuredRow& row : rows) {
      if (row.quantity == nullptr || row.gpu != o.gpu.name || !wanted(o, row)) continue;
      study::RowResult r = study::measure(device, row);
      bar.update(0, measured.size());
      if (!r.answered) {
        bar.clear();
        print_message("warning: " + row.id + ": " + r.refused + "\n");
        continue;
      }
      measured.push_back(row);
      measured.back().id = "own." + row.id;
      measured.back().value = r.measured;
      measured.back().source = "measured on " + device.name();
    }
    bar.clear();
    if (const std::string why = written(o.measure, study::rows_toml(measured)); !why.empty())
      return bad_input(o.measure + ": " + why);
    print_result(fmt::format("{} rows of {} in {}\n", measured.size(), device.name(), o.measure));
    return kDone;
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
  if (!o.measure.empty()) return measure_on_gpu(o, rows.value());
  // Short names stand for whole ones.
  const std::string gpu = o.gpu.name == "a100" ? "a100-80" : o.gpu.name == "h100" ? "h100-sxm" : o.gpu.name;
  std::vector<std::string> gpus = {gpu};
  if (gpu == "all") gpus = preset_names();
  std::vector<std::pair<GpuConfig, std::vector<const study::MeasuredRow*>>> chosen;
  for (const std::string& name : gpus) {
    const auto loaded = load_gpu(name, o.gpu.sets);
    if (!loaded.ok()) return bad_input(loaded.faults());
    // A file stands for the preset that it is based on only by name: its rows are those of --rows.
    std::vector<const study::MeasuredRow*> own;
    for (const study::MeasuredRow& row : rows.value())
      if ((row.gpu == name || row.gpu == loaded.value().name) && wanted(o, row)) own.push_back(&row);
    if (!own.empty()) chosen.emplace_back(loaded.value(), std::move(own));
  }
  for (const std::string& path : {o.report, o.json})
    if (!path.empty())
      if (const std::string why = OutputFile::refusal(path); !why.empty())
        return bad_input(path + ": " + why);
  if (chosen.empty())
    return bad_input("no published row of " + o.gpu.name + " is asked for",
                     "warpline calibrate " + o.gpu.name + " --list shows what there is");
  std::vector<study::RowResult> results;
  ProgressBar bar(!o.quiet && !o.list && is_terminal(2), chosen.size(), "rows");
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const auto& [config, own] = chosen[n];
    if (o.list) {
      for (const study::MeasuredRow* row : own)
        results.push_back({row, false, 0, row->quantity == nullptr ? row->refused : row->source, 0});
      continue;
    }
    bar.launch(n, config.name);
    study::ModelDevice device(config);
    std::size_t done = 0;
    for (const study::MeasuredRow* row : own) {
      results.push_back(study::measure(device, *row));
      bar.update(static_cast<double>(++done) / static_cast<double>(own.size()), results.size());
    }
  }
  bar.clear();
  print_result(study::rows_text(results));
  if (o.list) return kDone;
  print_result("\n" + study::summary_text(study::summarise(results)));
  int status = kDone;
  const auto keep = [&](const std::string& path, const std::string& bytes) {
    if (path.empty()) return;
    if (const std::string why = written(path, bytes); !why.empty()) status = bad_input(path + ": " + why);
  };
  keep(o.report, study::calibration_html(o.gpu.name, WARPLINE_VERSION, results));
  keep(o.json, study::calibration_json(o.gpu.name, results));
  return status;
}

}  // namespace

void add_calibrate(CLI::App& app, int& status) {
  CLI::App& command = *app.add_subcommand(
      "calibrate", "Repeats published measurements of a GPU on its model, and tells the errors by class");
  CalibrateOptions& o = options_of(command, status, calibrate);
  command.add_option("GPU", o.gpu.name, "preset, a TOML file called as one, or all")->required();
  o.gpu.add_set(command, "key.path=value changes the GPU; may be repeated");
  command
      .add_option("--row", o.rows, "only rows whose names fit the pattern (V100.chase.*); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--class", o.kind, "only rows of this class");
  command.add_option("--rows", o.rows_file, "a file of rows in place of those built in");
  command.add_option("--report", o.report, "writes a page of HTML with curves and all rows");
  command.add_option("--json", o.json, "writes the results as JSON");
  command.add_option(
      "--measure", o.measure,
      "measures the rows of GPU on this host's NVIDIA GPU instead, and writes a file for --rows");
  command.add_option("--device", o.device, "with --measure, the number of the GPU")->capture_default_str();
  command.add_flag("--brief", o.brief, "only rows that are measured in about a second each");
  command.add_flag("--list", o.list, "lists the rows and who has measured them; measures nothing");
  command.add_flag("--quantities", o.quantities, "lists what rows can be measured as, with arguments");
  command.add_flag("--quiet", o.quiet, "no progress");
  command.footer("Example: warpline calibrate v100 --class latency");
}

}  // namespace warpline
