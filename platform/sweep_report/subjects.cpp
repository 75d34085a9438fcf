#include "platform/sweep_report/subjects.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

#include "rtl_models/base/plain_name.h"

namespace warpline::sweep {
namespace {

/// Kernels of a workload that have pages: so many, and no smaller share of its cycles.
constexpr std::size_t kMostKernels = 8;
constexpr double kLeastKernelShare = 0.01;
/// Counters of one file of results.
constexpr std::int64_t kMostCounters = 10'000'000;

/// Takes down which counters figures are made of.
class Recorder : public FigureSource {
 public:
  double counter(const char* path) override {
    counters.insert(path);
    return 1;
  }
  double key(const char* /*path*/) override { return 1; }
  double time_ns() override { return 1; }
  std::set<std::string> counters;
};

class RunSource : public FigureSource {
 public:
  RunSource(const Subject& subject, std::size_t run, const StudyResults& results)
      : subject_(subject), run_(run), results_(results) {}
  double counter(const char* path) override {
    const auto column = subject_.counters.find(path);
    return column == subject_.counters.end() ? 0 : column->second[run_];
  }
  double key(const char* path) override {
    const unsigned configuration = results_.runs[subject_.runs[run_]].configuration;
    const auto numbers = results_.numbers.find(path);
    if (configuration == kNone || numbers == results_.numbers.end()) return NAN;
    return numbers->second.size() == 1 ? numbers->second.front() : numbers->second[configuration];
  }
  double time_ns() override { return subject_.time_ns[run_]; }

 private:
  const Subject& subject_;
  std::size_t run_;
  const StudyResults& results_;
};

/// "dram[3].busy_cycles", of whichever GPU, as "dram[max].busy_cycles"; other paths as they are.
std::string of_most(const std::string& path) {
  const std::string own = path.rfind("gpu[", 0) == 0 ? path.substr(path.find('.') + 1) : path;
  const std::size_t open = own.find('['), close = own.find(']');
  if (open == std::string::npos || close == std::string::npos || own.find('[', close) != std::string::npos)
    return path;
  return own.substr(0, open + 1) + "max" + own.substr(close);
}

/// Which subject, and which of its runs, a row of counters is of.
class Places {
 public:
  Places(const ResultStore& store, const StudyResults& results, const std::vector<Subject>& subjects) {
    std::unordered_map<std::string, std::int64_t> kernels;
    store.ask("SELECT id, name FROM kernels", [&](const auto& row) { kernels[row.text(1)] = row.number(0); });
    for (std::size_t s = 0; s < subjects.size(); ++s)
      for (std::size_t n = 0; n < subjects[s].runs.size(); ++n) {
        const auto point = static_cast<std::int64_t>(results.runs[subjects[s].runs[n]].point);
        if (subjects[s].kernel.empty()) {
          whole_[point] = {s, n};
        } else {
          of_kernel_[point][kernels[subjects[s].kernel]] = {s, n};
        }
      }
    // The counters of a kernel that is alone in a run are that run's.
    store.ask("SELECT point, min(kernel) FROM launches GROUP BY point HAVING count(DISTINCT kernel) = 1",
              [&](const auto& row) {
                const auto at = of_kernel_.find(row.number(0));
                if (at == of_kernel_.end()) return;
                const auto kernel = at->second.find(kernels[row.text(1)]);
                if (kernel != at->second.end()) alone_[row.number(0)] = kernel->second;
              });
    store.ask("SELECT id, path, total FROM counter_names", [&](const auto& row) {
      if (row.number(0) < 0 || row.number(0) > kMostCounters)
        throw StoreError{"has a counter of number " + std::to_string(row.number(0))};
      names_.resize(std::max<std::size_t>(names_.size(), static_cast<std::size_t>(row.number(0)) + 1));
      names_[static_cast<std::size_t>(row.number(0))] = row.text(1);
    });
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Calls take(subject, run, counter, value) for everything that was counted.
  template <class Take>
  void visit(const ResultStore& store, const Take& take) const {
    std::int64_t point = -1;
    const std::pair<std::size_t, std::size_t>*place = nullptr, *alone = nullptr;
    store.ask("SELECT point, counter, value FROM counters", [&](const ResultStore::Row& row) {
      if (row.number(0) != point) {
        point = row.number(0);
        const auto at = whole_.find(point);
        place = at == whole_.end() ? nullptr : &at->second;
        const auto one = alone_.find(point);
        alone = one == alone_.end() ? nullptr : &one->second;
      }
      if (alone != nullptr) take(alone->first, alone->second, counter_of(row.number(1)), row.real(2));
      if (place != nullptr) take(place->first, place->second, counter_of(row.number(1)), row.real(2));
    });
    store.ask("SELECT point, kernel, counter, value FROM kernel_counters", [&](const ResultStore::Row& row) {
      const auto at = of_kernel_.find(row.number(0));
      if (at == of_kernel_.end()) return;
      const auto kernel = at->second.find(row.number(1));
      if (kernel != at->second.end())
        take(kernel->second.first, kernel->second.second, counter_of(row.number(2)), row.real(3));
    });
  }

 private:
  [[nodiscard]] std::size_t counter_of(std::int64_t number) const {
    return number >= 0 && static_cast<std::size_t>(number) < names_.size() ? static_cast<std::size_t>(number)
                                                                           : 0;
  }
  std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>> whole_;
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>>>
      of_kernel_;
  std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>> alone_;
  std::vector<std::string> names_;  ///< of counters, by number
};

/// The workloads, and of each its kernels if there are several.
std::vector<Subject> names_and_cycles(const ResultStore& store, const StudyResults& results) {
  std::vector<Subject> out(results.workloads.size());
  std::unordered_map<std::int64_t, std::pair<std::size_t, double>> run_of;  // number, ns a cycle
  for (std::size_t r = 0; r < results.runs.size(); ++r) {
    const StudyRun& run = results.runs[r];
    Subject& s = out[run.workload];
    s.workload = run.workload;
    s.name = results.workloads[run.workload];
    if (!results.finished(run) || !(run.cycles > 0)) continue;
    s.runs.push_back(r);
    s.cycles.push_back(run.cycles);
    s.time_ns.push_back(run.time_ns);
    run_of[static_cast<std::int64_t>(run.point)] = {r, run.time_ns / run.cycles};
  }
  std::vector<std::map<std::string, Subject>> kernels(out.size());
  store.ask("SELECT point, kernel, sum(cycles) FROM launches GROUP BY point, kernel ORDER BY point",
            [&](const ResultStore::Row& row) {
              const auto at = run_of.find(row.number(0));
              if (at == run_of.end() || !(row.real(2) > 0)) return;
              const unsigned workload = results.runs[at->second.first].workload;
              Subject& k = kernels[workload][row.text(1)];
              k.kernel = row.text(1);
              k.name = plain_name(k.kernel);
              k.workload = workload;
              k.runs.push_back(at->second.first);
              k.cycles.push_back(row.real(2));
              k.time_ns.push_back(row.real(2) * at->second.second);
            });
  std::vector<Subject> all;
  for (std::size_t w = 0; w < out.size(); ++w) {
    double whole = 0;
    for (const double cycles : out[w].cycles) whole += cycles;
    all.push_back(std::move(out[w]));
    if (kernels[w].size() < 2) continue;
    std::vector<Subject> own;
    for (auto& [name, kernel] : kernels[w]) {
      double sum = 0;
      for (const double cycles : kernel.cycles) sum += cycles;
      kernel.share = sum / whole;
      if (kernel.share >= kLeastKernelShare) own.push_back(std::move(kernel));
    }
    std::stable_sort(own.begin(), own.end(),
                     [](const Subject& a, const Subject& b) { return a.share > b.share; });
    if (own.size() > kMostKernels) own.resize(kMostKernels);
    for (Subject& kernel : own) all.push_back(std::move(kernel));
  }
  return all;
}

}  // namespace

double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& which) {
  double sum = 0, logarithms = 0, least = INFINITY;
  std::size_t count = 0;
  for (const std::size_t n : which) {
    if (std::isnan(values[n])) continue;
    sum += values[n];
    logarithms += std::log(values[n]);
    least = std::min(least, values[n]);
    ++count;
  }
  if (count == 0) return NAN;
  const auto of = static_cast<double>(count);
  return least > 0 ? std::exp(logarithms / of) : sum / of;
}

std::vector<double> Subject::values_of(const Metric& m, const StudyResults& results) const {
  if (m.name == "cycles") return cycles;
  if (m.name == "time_ns") return time_ns;
  const bool is_figure = m.name == "wall_s" || m.name == "cpu_s" || m.name == "peak_bytes";
  if (!is_figure) {
    const auto column = counters.find(m.name);
    return column == counters.end() ? std::vector<double>(runs.size(), 0) : column->second;
  }
  std::vector<double> out;
  for (const std::size_t r : runs) {
    const StudyRun& run = results.runs[r];
    out.push_back(!kernel.empty()      ? NAN
                  : m.name == "wall_s" ? run.wall_s
                  : m.name == "cpu_s"  ? run.cpu_s
                                       : run.peak_bytes);
  }
  return out;
}

double Subject::figure(const Figure& figure, const std::vector<std::size_t>& which,
                       const StudyResults& results) const {
  double part = 0, whole = 0;
  for (const std::size_t n : which) {
    RunSource source(*this, n, results);
    const auto [a, b] = figure.of(source);
    if (std::isnan(a) || !(b > 0)) continue;
    part += a;
    whole += b;
  }
  return whole > 0 ? part / whole : NAN;
}

void Subject::with_source(std::size_t run, const StudyResults& results,
                          const std::function<void(FigureSource&)>& use) const {
  RunSource source(*this, run, results);
  use(source);
}

std::vector<std::size_t> Subject::at_level(const Factor& factor, std::size_t level) const {
  std::vector<std::size_t> out;
  for (std::size_t n = 0; n < runs.size(); ++n)
    if (factor.level_of[runs[n]] == level) out.push_back(n);
  return out;
}

std::pair<std::vector<std::size_t>, std::vector<std::size_t>> Subject::matched(
    const std::vector<Factor>& factors, std::size_t factor, std::size_t a, std::size_t b) const {
  // By the levels of all other factors.
  std::map<std::vector<unsigned>, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> sides;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const unsigned level = factors[factor].level_of[runs[n]];
    if (level != a && level != b) continue;
    std::vector<unsigned> others;
    for (std::size_t f = 0; f < factors.size(); ++f)
      if (f != factor) others.push_back(factors[f].level_of[runs[n]]);
    auto& [at_a, at_b] = sides[others];
    (level == a ? at_a : at_b).push_back(n);
  }
  std::pair<std::vector<std::size_t>, std::vector<std::size_t>> out;
  for (const auto& [others, side] : sides) {
    if (side.first.empty() || side.second.empty()) continue;
    out.first.insert(out.first.end(), side.first.begin(), side.first.end());
    out.second.insert(out.second.end(), side.second.begin(), side.second.end());
  }
  return out;
}

std::vector<double> Subject::with_others_the_same(const std::vector<Factor>& factors,
                                                  const std::vector<double>& values,
                                                  const std::vector<std::size_t>& kept) const {
  if (!std::all_of(values.begin(), values.end(), [](double v) { return v > 0; })) return values;
  const Effects own = values == metric ? effects : effects_of(factors, runs, values);
  std::vector<double> others(values.size(), 0);  // logarithms
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (std::find(kept.begin(), kept.end(), f) != kept.end()) continue;
    for (std::size_t n = 0; n < runs.size(); ++n)
      if (const unsigned level = factors[f].level_of[runs[n]]; level != kNone) others[n] += own.of[f][level];
  }
  const double mean = others.empty() ? 0
                                     : std::accumulate(others.begin(), others.end(), 0.0) /
                                           static_cast<double>(others.size());
  std::vector<double> out;
  for (std::size_t n = 0; n < values.size(); ++n) out.push_back(values[n] / std::exp(others[n] - mean));
  return out;
}

std::vector<std::size_t> Subject::at_all_levels(const std::vector<Factor>& factors,
                                                std::size_t factor) const {
  struct Group {
    std::vector<std::size_t> runs;
    std::set<unsigned> levels;
  };
  std::map<std::vector<unsigned>, Group> groups;  // by the levels of all other factors
  std::set<unsigned> levels;
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    all.push_back(n);
    const unsigned level = factors[factor].level_of[runs[n]];
    if (level == kNone) continue;
    std::vector<unsigned> others;
    for (std::size_t f = 0; f < factors.size(); ++f)
      if (f != factor) others.push_back(factors[f].level_of[runs[n]]);
    Group& group = groups[others];
    group.runs.push_back(n);
    group.levels.insert(level);
    levels.insert(level);
  }
  std::vector<std::size_t> out;
  for (const auto& [others, group] : groups)
    if (group.levels == levels) out.insert(out.end(), group.runs.begin(), group.runs.end());
  if (out.empty()) return all;
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t Subject::best() const {
  std::size_t best = 0;
  for (std::size_t n = 1; n < metric.size(); ++n)
    if (std::isnan(metric[best]) || metric[n] < metric[best]) best = n;
  return best;
}

std::size_t Subject::worst() const {
  std::size_t worst = 0;
  for (std::size_t n = 1; n < metric.size(); ++n)
    if (std::isnan(metric[worst]) || metric[n] > metric[worst]) worst = n;
  return worst;
}

std::size_t Subject::zeros() const {
  return static_cast<std::size_t>(std::count(metric.begin(), metric.end(), 0.0));
}

std::vector<Subject> subjects_of(const ResultStore& store, const StudyResults& results,
                                 const std::vector<Metric>& metrics, const std::vector<Factor>& factors) {
  std::vector<Subject> all = names_and_cycles(store, results);
  const std::string& judged = metrics.front().name;
  if (judged == "wall_s" || judged == "cpu_s" || judged == "peak_bytes")  // of whole runs alone
    all.erase(std::remove_if(all.begin(), all.end(), [](const Subject& s) { return !s.kernel.empty(); }),
              all.end());
  Recorder wanted;
  for (const Figure& f : figures()) (void)f.of(wanted);
  for (const Metric& m : metrics) wanted.counters.insert(m.name);
  const Places places(store, results, all);
  std::vector<const std::string*> column_of(places.names().size(), nullptr);
  for (std::size_t c = 0; c < column_of.size(); ++c) {
    auto at = wanted.counters.find(places.names()[c]);
    if (at == wanted.counters.end()) at = wanted.counters.find(of_most(places.names()[c]));
    if (at != wanted.counters.end()) column_of[c] = &*at;
  }
  places.visit(store, [&](std::size_t s, std::size_t n, std::size_t counter, double value) {
    if (column_of[counter] == nullptr) return;
    std::vector<double>& column = all[s].counters[*column_of[counter]];
    column.resize(all[s].runs.size(), 0);
    column[n] = std::max(column[n], value);
  });
  for (Subject& s : all) {
    s.metric = s.values_of(metrics.front(), results);
    s.positive = s.metric;
    std::vector<std::size_t> everything(s.runs.size());
    std::iota(everything.begin(), everything.end(), 0);
    const double middle = mean_of(s.metric, everything);
    for (double& m : s.positive) m = std::isnan(m) ? (middle > 0 ? middle : 1) : m > 0 ? m : 1;
    s.effects = effects_of(factors, s.runs, s.positive);
  }
  return all;
}

std::vector<std::vector<Moved>> counted_on_sides(
    const ResultStore& store, const StudyResults& results, const std::vector<Subject>& subjects,
    const std::function<unsigned(std::size_t, std::size_t)>& side_of) {
  const Places places(store, results, subjects);
  const std::size_t counters = places.names().size();
  std::vector<bool> is_total(counters, false);
  for (std::size_t c = 0; c < counters; ++c) is_total[c] = places.names()[c].find('[') == std::string::npos;
  std::vector<std::vector<double>> sums(subjects.size(), std::vector<double>(2 * counters, 0));
  places.visit(store, [&](std::size_t s, std::size_t n, std::size_t counter, double value) {
    if (!is_total[counter]) return;
    const unsigned side = side_of(s, n);
    if (side < 2) sums[s][2 * counter + side] += value;
  });
  std::vector<std::vector<Moved>> out(subjects.size());
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    std::size_t runs[2] = {0, 0};
    for (std::size_t n = 0; n < subjects[s].runs.size(); ++n)
      if (const unsigned side = side_of(s, n); side < 2) ++runs[side];
    for (std::size_t c = 0; c < counters; ++c) {
      const double before = sums[s][2 * c], after = sums[s][2 * c + 1];
      const auto known = results.counters.find(places.names()[c]);
      if ((before == 0 && after == 0) || known == results.counters.end()) continue;
      out[s].push_back({known->second, before / static_cast<double>(std::max<std::size_t>(runs[0], 1)),
                        after / static_cast<double>(std::max<std::size_t>(runs[1], 1))});
    }
  }
  return out;
}

}  // namespace warpline::sweep
