#include "platform/sweep_report/factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "platform/sweep/condition.h"

namespace warpline::sweep {
namespace {

/// Of more numbers, ranges are levels: so many of them.
constexpr std::size_t kMostLevels = 12, kRanges = 8;
/// Sweeps over the factors until the least squares stand still; a grid needs one.
constexpr unsigned kMostSweeps = 200;
constexpr double kStill = 1e-10;

/// Lays the values of a key that is a number together in ranges with about as many runs each.
void lay_together(Factor& f) {
  std::vector<std::size_t> runs_with(f.levels.size(), 0);
  std::size_t all = 0;
  for (const unsigned level : f.level_of)
    if (level != kNone) {
      ++runs_with[level];
      ++all;
    }
  std::vector<unsigned> range_of(f.levels.size());
  std::vector<Level> ranges;
  std::size_t before = 0, first = 0;
  for (std::size_t l = 0; l < f.levels.size(); ++l) {
    const auto range =
        static_cast<unsigned>(std::min(kRanges - 1, before * kRanges / std::max<std::size_t>(all, 1)));
    if (ranges.empty() || range != range_of[l - 1]) {
      ranges.push_back({f.levels[l].label, 0});
      first = l;
    }
    range_of[l] = range;
    Level& r = ranges.back();
    r.label = first == l ? f.levels[l].label : f.levels[first].label + "\u2013" + f.levels[l].label;
    r.number = (f.levels[first].number + f.levels[l].number) / 2;
    before += runs_with[l];
  }
  // Numbers of ranges that no value begins are skipped.
  std::vector<unsigned> seen;
  for (unsigned& range : range_of) {
    if (seen.empty() || seen.back() != range) seen.push_back(range);
    range = static_cast<unsigned>(seen.size() - 1);
  }
  for (unsigned& level : f.level_of)
    if (level != kNone) level = range_of[level];
  f.levels = std::move(ranges);
}

/// Whether two factors divide the runs in the same way.
bool go_together(const Factor& a, const Factor& b) {
  if (a.levels.size() != b.levels.size()) return false;
  std::vector<unsigned> partner(a.levels.size(), kNone), back(b.levels.size(), kNone);
  for (std::size_t r = 0; r < a.level_of.size(); ++r) {
    const unsigned x = a.level_of[r], y = b.level_of[r];
    if (x == kNone || y == kNone) return false;
    if (partner[x] == kNone) partner[x] = y;
    if (back[y] == kNone) back[y] = x;
    if (partner[x] != y || back[y] != x) return false;
  }
  return true;
}

void join(Factor& a, const Factor& b) {
  for (std::size_t l = 0; l < a.levels.size(); ++l)
    for (std::size_t r = 0; r < a.level_of.size(); ++r)
      if (a.level_of[r] == l) {
        a.levels[l].label += " & " + b.levels[b.level_of[r]].label;
        break;
      }
  a.name += " & " + b.name;
  a.keys.insert(a.keys.end(), b.keys.begin(), b.keys.end());
}

double mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<Factor> factors_of(const StudyResults& results) {
  std::vector<Factor> out;
  if (results.gpus.size() > 1) {
    Factor gpu;
    gpu.name = "GPU";
    for (const std::string& name : results.gpus) gpu.levels.push_back({name, NAN});
    for (const StudyRun& run : results.runs) gpu.level_of.push_back(run.gpu);
    out.push_back(std::move(gpu));
  }
  for (std::size_t k = 0; k < results.keys.size(); ++k) {
    if (results.values[k].size() < 2) continue;
    Factor f;
    f.name = results.keys[k];
    f.keys = {f.name};
    f.numeric = true;
    for (const std::string& value : results.values[k]) {
      const auto number = real_number(value);
      f.levels.push_back({shown_value(value), number.value_or(NAN)});
      f.numeric = f.numeric && number;
    }
    for (const StudyRun& run : results.runs) f.level_of.push_back(run.settings[k]);
    const auto twin =
        std::find_if(out.begin(), out.end(), [&](const Factor& other) { return go_together(other, f); });
    if (twin != out.end()) {
      join(*twin, f);
    } else {
      out.push_back(std::move(f));
    }
  }
  for (Factor& f : out)
    if (f.numeric && f.levels.size() > kMostLevels) lay_together(f);
  return out;
}

std::size_t Effects::least(std::size_t factor) const {
  std::size_t best = 0;
  for (std::size_t l = 1; l < of[factor].size(); ++l)
    if (std::isnan(of[factor][best]) || of[factor][l] < of[factor][best]) best = l;
  return best;
}

std::size_t Effects::most(std::size_t factor) const {
  std::size_t best = 0;
  for (std::size_t l = 1; l < of[factor].size(); ++l)
    if (std::isnan(of[factor][best]) || of[factor][l] > of[factor][best]) best = l;
  return best;
}

double Effects::span(std::size_t factor) const {
  const double span = ratio(factor, least(factor), most(factor));
  return std::isnan(span) ? 1 : span;
}

std::vector<std::size_t> Effects::order() const {
  std::vector<std::size_t> order(of.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return span(a) > span(b) * (1 + 1e-9); });
  return order;
}

Effects effects_of(const std::vector<Factor>& factors, const std::vector<std::size_t>& runs,
                   const std::vector<double>& metric) {
  Effects e;
  std::vector<double> rest;  // of each logarithm, what the sum so far does not explain
  rest.reserve(metric.size());
  for (const double m : metric) rest.push_back(std::log(m));
  const double mean =
      rest.empty() ? 0 : std::accumulate(rest.begin(), rest.end(), 0.0) / static_cast<double>(rest.size());
  for (double& r : rest) r -= mean;
  const double varies = mean_square(rest);
  for (const Factor& f : factors) {
    e.of.emplace_back(f.levels.size(), 0.0);
    std::vector<std::size_t>& count = e.count.emplace_back(f.levels.size(), 0);
    for (const std::size_t run : runs)
      if (f.level_of[run] != kNone) ++count[f.level_of[run]];
  }
  for (unsigned sweep = 0; sweep < kMostSweeps; ++sweep) {
    double moved = 0;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      std::vector<double> change(factors[f].levels.size(), 0);
      const std::vector<unsigned>& level_of = factors[f].level_of;
      for (std::size_t n = 0; n < runs.size(); ++n)
        if (level_of[runs[n]] != kNone) change[level_of[runs[n]]] += rest[n];
      for (std::size_t l = 0; l < change.size(); ++l) {
        if (e.count[f][l] != 0) change[l] /= static_cast<double>(e.count[f][l]);
        e.of[f][l] += change[l];
        moved = std::max(moved, std::abs(change[l]));
      }
      for (std::size_t n = 0; n < runs.size(); ++n)
        if (level_of[runs[n]] != kNone) rest[n] -= change[level_of[runs[n]]];
    }
    if (moved < kStill) break;
  }
  for (std::size_t f = 0; f < factors.size(); ++f)
    for (std::size_t l = 0; l < e.of[f].size(); ++l)
      if (e.count[f][l] == 0) e.of[f][l] = NAN;
  if (varies < 1e-18) return e;
  e.explained = 1 - mean_square(rest) / varies;
  // What two factors do together beyond that: of each pair of levels the mean of the rest.
  for (std::size_t f = 0; f < factors.size(); ++f)
    for (std::size_t g = f + 1; g < factors.size(); ++g) {
      const std::size_t width = factors[g].levels.size();
      std::vector<double> sums(factors[f].levels.size() * width, 0), counts(sums.size(), 0);
      for (std::size_t n = 0; n < runs.size(); ++n) {
        const unsigned a = factors[f].level_of[runs[n]], b = factors[g].level_of[runs[n]];
        if (a == kNone || b == kNone) continue;
        sums[a * width + b] += rest[n];
        ++counts[a * width + b];
      }
      double square = 0;
      for (std::size_t c = 0; c < sums.size(); ++c)
        if (counts[c] != 0) square += sums[c] * sums[c] / counts[c];
      e.interactions.push_back({f, g, square / static_cast<double>(runs.size()) / varies});
    }
  std::stable_sort(e.interactions.begin(), e.interactions.end(),
                   [](const Interaction& a, const Interaction& b) { return a.share > b.share; });
  return e;
}

}  // namespace warpline::sweep
