#include "platform/cli/study_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include "platform/cli/command_line.h"
#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/report/run_statistics.h"
#include "platform/series/series_figures.h"
#include "platform/sweep/result_store.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

constexpr unsigned kMostJobs = 1024;

/// Of the points of a study, for the names of its counters.
constexpr std::size_t kMostLookedAt = 16;

/// Names of a study that have to be those of something, and what its GPUs have.
class StudyNames {
 public:
  explicit StudyNames(const Document& document) : document_(document) {
    for (const char* key : {"metrics", "figures"}) {
      const Member* const m = document.root().find(key);
      if (m == nullptr) continue;
      if (m->value.kind == Value::Kind::text) take(key, m->value);
      for (const Value& v : m->value.items) take(key, v);
    }
  }
  [[nodiscard]] bool all_known() const { return open_.empty(); }
  void look_at(const GpuConfig& gpu) {
    GpuPlatform platform(gpu, {});
    platform.build();
    CounterTable table;
    static_cast<void>(table.read([&](CounterVisitor& visitor) { platform.visit(visitor); }));
    std::set<std::string> counters;
    for (const CounterTable::Entry& e : table.entries()) {
      counters.insert(e.path);
      if (total_path(e.path) != e.path) continue;
      for (const char* key : {"metrics", "figures"}) known_[key].insert(e.path);
      blocks_.insert(block_of(e.path));
    }
    for (const SeriesFigure& f : standard_figures(gpu)) known_["figures"].insert(f.name);
    const auto has = [&](const Name& name) {
      return name.key == "metrics" ? counters.count(name.value->text) != 0
                                   : figures_named({name.value->text}, gpu, table.entries()).ok();
    };
    open_.erase(std::remove_if(open_.begin(), open_.end(), has), open_.end());
  }
  /// `all`: every GPU was looked at. Else another one may have blocks that these lack.
  [[nodiscard]] Diagnostics faults(bool all) const {
    Diagnostics out;
    for (const Name& name : open_) {
      const std::string& text = name.value->text;
      if (!all && text.find('.') != std::string::npos && blocks_.count(block_of(total_path(text))) == 0)
        continue;
      std::vector<std::string> known;
      if (name.key == "metrics") known = sweep::ResultStore::figures();
      if (const auto more = known_.find(name.key); more != known_.end())
        known.insert(known.end(), more->second.begin(), more->second.end());
      out.push_back(document_.fault(name.value->place,
                                    fmt::format("{}: nothing is called \"{}\"", name.key, text),
                                    did_you_mean(text, known)));
    }
    return out;
  }

 private:
  struct Name {
    std::string key;
    const Value* value;
  };
  static std::string block_of(const std::string& path) { return path.substr(0, path.rfind('.')); }
  /// Figures of results are known, and counters of buffers are of what a workload has.
  void take(const std::string& key, const Value& v) {
    const std::vector<std::string>& figures = sweep::ResultStore::figures();
    const bool known = key == "metrics" && std::find(figures.begin(), figures.end(), v.text) != figures.end();
    if (!known && v.text.rfind("buffer.", 0) != 0) open_.push_back({key, &v});
  }

  const Document& document_;
  std::vector<Name> open_;
  std::map<std::string, std::set<std::string>> known_;  ///< by key: what a name may have meant
  std::set<std::string> blocks_;
};

volatile std::sig_atomic_t stop_wanted = 0;

}  // namespace

void add_jobs(CLI::App& command, unsigned& jobs) {
  command.add_option("--jobs", jobs, "runs at a time; as many as there are processors, unless said")
      ->check(CLI::Range(1U, kMostJobs));
}

void add_numbers(CLI::App& command, const std::string& name, std::vector<std::size_t>& numbers,
                 std::pair<std::size_t, std::size_t> range, const std::string& meaning) {
  const auto take = [name, &numbers, range](const std::vector<std::string>& lists) {
    for (const std::string& list : lists)
      for (const std::string_view text : split(list, ',')) {
        const auto number = number_from<std::size_t>(text);
        if (!number || *number < range.first || *number > range.second)
          throw CLI::ValidationError(
              name, fmt::format("\"{}\" is no number from {}{}, as they stand with commas between", text,
                                range.first,
                                range.second == SIZE_MAX ? " on" : fmt::format(" to {}", range.second)));
        numbers.push_back(*number);
      }
  };
  command.add_option_function<std::vector<std::string>>(name, take, meaning)
      ->allow_extra_args(false)
      ->type_name("N,...");
}

unsigned jobs_of(unsigned asked) {
  return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

int run_words(const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return run_command_line(static_cast<int>(argv.size()), argv.data());
}

StopSignals::StopSignals() {
  stop_wanted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_wanted = 1; };
  for (std::size_t n = 0; n < std::size(kSignals); ++n) {
    sigaction(kSignals[n], &action, &before_[n]);
    // nohup: what is ignored stays so.
    if (before_[n].sa_handler == SIG_IGN) sigaction(kSignals[n], &before_[n], nullptr);
  }
  // Who has this ignored by its parent would not hear how its children end.
  children_ = std::signal(SIGCHLD, SIG_DFL);
}

StopSignals::~StopSignals() {
  for (std::size_t n = 0; n < std::size(kSignals); ++n) sigaction(kSignals[n], &before_[n], nullptr);
  std::signal(SIGCHLD, children_);
}

bool is_stop_wanted() {
  return stop_wanted != 0;
}

Diagnostics unknown_names(const sweep::Study& study, const sweep::Plan& plan) {
  const Result<Document> document = Document::parse(study.file, study.text);
  if (!document.ok()) return document.faults();
  StudyNames names(document.value());
  const std::size_t looks = std::min(kMostLookedAt, plan.points.size());
  bool looked = false;
  for (std::size_t n = 0; n < looks && !names.all_known(); ++n) {
    const sweep::Point& point = plan.points[n * plan.points.size() / looks];
    if (!point.impossible.empty()) continue;
    std::vector<std::string> settings;
    for (const auto& [key, value] : point.settings) settings.push_back(key + "=" + value);
    const Result<GpuConfig> gpu = load_gpu(point.gpu, settings);
    if (!gpu.ok()) continue;
    names.look_at(gpu.value());
    looked = true;
  }
  return looked ? names.faults(looks == plan.points.size()) : Diagnostics{};
}

ScratchFile::ScratchFile() {
  std::error_code unknown;
  path_ = (std::filesystem::temp_directory_path(unknown) / "warpline_results_XXXXXX").string();
  if (unknown || mkdtemp(path_.data()) == nullptr)
    throw sweep::StoreError{"no folder can be made for it (TMPDIR)"};
}

ScratchFile::~ScratchFile() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::size_t>& left) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t n = 0; n < row.size(); ++n)
      line += std::find(left.begin(), left.end(), n) != left.end()
                  ? fmt::format("{:<{}}  ", row[n], widths[n])
                  : fmt::format("{:>{}}  ", row[n], widths[n]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace warpline
