#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/metrics/nsight_metrics.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

using Json = nlohmann::json;
using Counters = std::map<std::string, std::uint64_t>;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31U;
constexpr double kMostGpus = 1024;
constexpr double kNanosecondsPerMicrosecond = 1e3;

double number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

const Json* list_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

/// Totals alone. A counter is a number, or an object with its `value`.
Counters counters_in(const Json& counters) {
  Counters out;
  for (const auto& [path, counter] : counters.items()) {
    const Json* value = &counter;
    if (counter.is_object() && counter.contains("value")) value = &counter.at("value");
    if (value->is_number_unsigned() && path.find('[') == std::string::npos)
      out[path] = value->get<std::uint64_t>();
  }
  return out;
}

/// Collects grids by their kernels.
class Kernels {
 public:
  /// `busy_gpus`: that they ran on; 0: all.
  void add(const std::string& name, const Counters& counters, double time_ns, std::uint64_t grids,
           unsigned busy_gpus) {
    const auto [at, fresh] = known_.try_emplace(name, kernels_.size());
    if (fresh) kernels_.push_back({name, {}, 0, 0, 0});
    for (Total* t : {&kernels_[at->second], &sum_}) {
      for (const auto& [path, value] : counters) t->counters[path] += value;
      t->time_ns += time_ns;
      t->grids += grids;
      t->busy_gpus = std::max(t->busy_gpus, busy_gpus);
    }
    ++adds_;
  }
  /// Of a run that has counted this in all, some of it between its grids. A file says nothing of a launch
  /// that has none beside it: it has counted what the run has.
  void whole(Counters counters, double time_ns) {
    if (adds_ == 1 && kernels_.front().counters.empty()) kernels_.front().counters = counters;
    sum_ = {{}, std::move(counters), time_ns, 0, 0};
  }
  std::vector<MetricSource> take(double sm_mhz, unsigned gpus) {
    std::vector<MetricSource> out;
    if (kernels_.size() != 1) out.push_back(source_of(sum_, sm_mhz, gpus));
    for (Total& kernel : kernels_) out.push_back(source_of(kernel, sm_mhz, gpus));
    return out;
  }

 private:
  struct Total {
    std::string name;
    Counters counters;
    double time_ns = 0;
    std::uint64_t grids = 0;
    unsigned busy_gpus = 0;
  };
  static MetricSource source_of(Total& total, double sm_mhz, unsigned gpus) {
    MetricSource out;
    out.name = total.name;
    out.time_ns = total.time_ns;
    out.grids = total.grids;
    out.gpus = gpus;
    out.busy_gpus = total.busy_gpus == 0 ? gpus : total.busy_gpus;
    if (sm_mhz > 0) out.sm_cycles = total.time_ns * sm_mhz / kNanosecondsPerMicrosecond;
    const auto counters = std::make_shared<const Counters>(std::move(total.counters));
    out.counter = [counters](const std::string& path) {
      const auto found = counters->find(path);
      return found == counters->end() ? 0 : found->second;
    };
    return out;
  }

  std::vector<Total> kernels_;
  std::map<std::string, std::size_t> known_;
  std::size_t adds_ = 0;
  Total sum_;
};

}  // namespace

std::vector<MetricSource> metric_sources(const RunStatistics& run, double sm_mhz, unsigned gpus) {
  Kernels kernels;
  const std::vector<CounterTable::Entry>& entries = run.table.entries();
  const auto is_total = [&](std::size_t entry) { return entries[entry].path.find('[') == std::string::npos; };
  const double ns_per_cycle = run.cycles == 0 ? 0 : run.time_ns / static_cast<double>(run.cycles);
  for (const LaunchStatistics& grid : run.launches) {
    if (!grid.measured) continue;
    Counters counters;
    for (const auto& [entry, value] : grid.counted)
      if (is_total(entry)) counters[entries[entry].path] = value;
    kernels.add(grid.kernel, counters, static_cast<double>(grid.cycles) * ns_per_cycle, 1, grid.gpus);
  }
  Counters all;
  for (std::size_t n = 0; n < run.values.size(); ++n)
    if (is_total(n)) all[entries[n].path] = run.values[n];
  kernels.whole(std::move(all), run.time_ns);
  return kernels.take(sm_mhz, gpus);
}

Result<std::vector<MetricSource>> read_metric_sources(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text.ok()) return text.faults();
  const Json file = Json::parse(text.value(), nullptr, false);
  const bool of_run =
      file.is_object() && file.value("counters", Json{}).is_object() && list_in(file, "launches") != nullptr;
  const Json* const grids = of_run             ? list_in(file, "launches")
                            : file.is_object() ? list_in(file, "kernels")
                                               : nullptr;
  if (grids == nullptr)
    return Diagnostic::about(path, "this is no file of `warpline run --stats` or `warpline exec --report`");
  constexpr double kSchema = 2;
  if (of_run && number_in(file, "schema") != kSchema)
    return Diagnostic::about(path, "its schema is none that this version reads");
  const double cycles = number_in(file, "cycles");
  const double ns_per_cycle = cycles == 0 ? 0 : number_in(file, "time_ns") / cycles;
  const Json settings = of_run ? file.value("configuration", Json::object()) : file;
  const double sm_mhz = number_in(settings, of_run ? "clocks.sm" : "sm_mhz");
  const auto gpus = static_cast<unsigned>(std::clamp(number_in(settings, "gpus"), 1.0, kMostGpus));
  Kernels kernels;
  for (const Json& grid : *grids) {
    const char* const key = of_run ? "kernel" : "name";
    if (!grid.is_object() || !grid.value(key, Json{}).is_string() ||
        !grid.value("counters", Json{}).is_object())
      return Diagnostic::about(path, "a kernel has no name or no counters");
    if (grid.value("fast_forwarded", Json(false)) == Json(true)) continue;
    kernels.add(grid.at(key), counters_in(grid.at("counters")),
                of_run ? number_in(grid, "cycles") * ns_per_cycle : number_in(grid, "time_ns"),
                of_run ? 1 : static_cast<std::uint64_t>(std::max(1.0, number_in(grid, "launches"))),
                of_run ? static_cast<unsigned>(std::clamp(number_in(grid, "gpus"), 1.0, kMostGpus)) : 0);
  }
  if (of_run) kernels.whole(counters_in(file.at("counters")), number_in(file, "time_ns"));
  std::vector<MetricSource> out = kernels.take(sm_mhz, gpus);
  if (!of_run) return out;
  const auto keys = std::make_shared<const Json>(settings);
  const Json transport = file.value("transport", Json{});
  for (MetricSource& source : out) {
    if (transport.is_string()) source.transport = transport;
    source.key = [keys](const std::string& key) {
      const auto found = keys->find(key);
      return found != keys->end() && found->is_number() ? found->get<double>() : NAN;
    };
  }
  return out;
}

}  // namespace warpline
