// Sentences on what factors do, and why.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

/// Beyond this share of what it could do, a resource limits; and it is nearly busy.
constexpr double kLimits = 0.8, kNearly = 0.6;
constexpr std::size_t kMostEvidence = 4;
/// An interaction with less of what varies is not worth a sentence.
constexpr double kLeastInteraction = 0.02;
/// Nor is one where the logarithms of the changes differ by less.
constexpr double kLeastDependence = 0.1;
/// Changes below are none, as far as telling why goes.
constexpr double kLeastScore = 0.02;
/// Of fewer cycles it is said how few they are: the start of a grid takes more.
constexpr double kFewCycles = 50;

struct Evidence {
  const Figure* figure = nullptr;
  double before = NAN, after = NAN, score = 0;
  bool is_own = false;
};

/// How much the change of a figure tells.
double score_of(const Figure& f, double before, double after) {
  if (f.tells == Figure::Tells::setting) return kLeastScore;
  // What is relieved is a cause; what is busier is, for the most part, only faster.
  if (f.kind == FigureKind::busy)
    return (after < before ? 1.5 : 0.3) * std::abs(after - before) * std::min(1.0, std::max(before, after));
  if (f.kind == FigureKind::share) return std::abs(after - before);
  if (before <= 0 || after <= 0) return 0;
  return std::min(0.25, 0.1 * std::abs(std::log2(after / before)));
}

/// Whether `key` begins as one of those that the figure is the first to tell about.
bool is_near(const Figure& f, const Factor& factor) {
  for (const std::string& key : factor.keys)
    for (const std::string& start : f.near)
      if (key.rfind(start, 0) == 0) return true;
  return false;
}

std::string name_of(const Factor& f) {
  return "<b class=\"key\">" + escaped(f.name) + "</b>";
}

std::string arrow(const Factor& f, std::size_t a, std::size_t b) {
  return escaped(f.levels[a].label) + " \u2192 " + escaped(f.levels[b].label);
}

/// "58% fewer cycles", "12% more dram.reads".
std::string difference_text(const Metric& metric, double ratio) {
  const std::string name = escaped(metric.name == "cycles" ? "cycles" : metric.name);
  if (ratio > 1)
    return (ratio < 2 ? change_text(ratio).substr(1) + " more " : change_text(ratio) + " the ") + name;
  const std::string percent = fmt::format(ratio > 0.9 ? "{:.1f}%" : "{:.0f}%", 100 * (1 - ratio));
  return percent + " fewer " + name +
         (ratio <= 0.67 && metric.name == "cycles" ? fmt::format(" ({:.1f} times as fast)", 1 / ratio) : "");
}

/// Where a change is one of few cycles, that it is.
std::string few_cycles(const ReportInput& in, const Subject& s, std::size_t factor, std::size_t a,
                       std::size_t b) {
  if (in.metrics.front().name != "cycles") return {};
  const std::vector<double> alike = s.with_others_the_same(in.factors, s.metric, {factor});
  const double cycles = std::abs(mean_of(alike, s.at_level(in.factors[factor], a)) -
                                 mean_of(alike, s.at_level(in.factors[factor], b)));
  if (!(cycles < kFewCycles)) return {};
  return fmt::format(", which are only {} of {}", number_text(std::round(cycles)),
                     number_text(std::round(mean_of(alike, s.at_level(in.factors[factor], a)))));
}

double mean_logarithm(const Subject& s, const std::vector<std::size_t>& runs) {
  double sum = 0;
  for (const std::size_t n : runs) sum += std::log(s.positive[n]);
  return runs.empty() ? NAN : sum / static_cast<double>(runs.size());
}

/// The figure of kind busy that is the highest in a run.
std::pair<const Figure*, double> busiest(const ReportInput& in, const Subject& s, std::size_t run) {
  std::pair<const Figure*, double> most = {nullptr, 0};
  for (const Figure& f : figures()) {
    if (f.kind != FigureKind::busy) continue;
    const double busy = s.figure(f, {run}, in.results);
    if (busy > most.second) most = {&f, busy};
  }
  return most;
}

std::string limit_of(const std::pair<const Figure*, double>& most) {
  if (most.first == nullptr) return "what limits is not known";
  const std::string name = "<b>" + escaped(most.first->name) + "</b>", busy = percent_text(most.second);
  if (most.second >= kLimits) return fmt::format("{} limit: busy {} of the time", name, busy);
  if (most.second >= kNearly) return fmt::format("{} nearly limit: busy {} of the time", name, busy);
  return fmt::format(
      "nothing is busy most of the time (at most {}: {}), so latency, bursts or too few warps limit", busy,
      name);
}

}  // namespace

std::pair<std::size_t, std::size_t> compared_levels(const Factor& factor, const Effects& effects,
                                                    std::size_t number) {
  if (effects.span(number) >= kLittle) return {effects.most(number), effects.least(number)};
  std::size_t first = 0, last = factor.levels.size() - 1;
  while (first < last && effects.count[number][first] == 0) ++first;
  while (last > first && effects.count[number][last] == 0) --last;
  return {first, last};
}

std::string change_sentence(const ReportInput& in, const Subject& s, std::size_t factor) {
  const Factor& f = in.factors[factor];
  const auto [a, b] = compared_levels(f, s.effects, factor);
  const std::string way = name_of(f) + " " + arrow(f, a, b);
  const double ratio = s.effects.ratio(factor, a, b);
  if (a == b || std::isnan(ratio)) return name_of(f) + " has one value here";
  if (s.effects.span(factor) < kLittle) return fmt::format("{}: no effect ({})", way, change_text(ratio));
  return fmt::format("{}: {}", way, difference_text(in.metrics.front(), ratio)) +
         few_cycles(in, s, factor, a, b);
}

std::string evidence(const ReportInput& in, const Subject& s, std::size_t factor) {
  const Factor& f = in.factors[factor];
  const auto [a, b] = compared_levels(f, s.effects, factor);
  const auto [before, after] = s.matched(in.factors, factor, a, b);
  const bool does_something = s.effects.span(factor) >= kLittle;
  std::vector<Evidence> all;
  for (const Figure& figure : figures()) {
    Evidence e{&figure, s.figure(figure, before, in.results), s.figure(figure, after, in.results), 0,
               is_near(figure, f)};
    if (std::isnan(e.before) || std::isnan(e.after) || (e.before == 0 && e.after == 0)) continue;
    if (figure.tells == Figure::Tells::speed || (figure.tells == Figure::Tells::setting && !e.is_own))
      continue;
    e.score = score_of(figure, e.before, e.after) * (e.is_own                                ? 2
                                                     : figure.tells == Figure::Tells::little ? 0.2
                                                                                             : 1);
    if (does_something ? e.score >= kLeastScore : e.is_own) all.push_back(e);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Evidence& x, const Evidence& y) { return x.score > y.score; });
  if (all.size() > kMostEvidence) all.resize(kMostEvidence);
  std::vector<std::string> texts;
  for (const Evidence& e : all) {
    const bool same = figure_text(*e.figure, e.before) == figure_text(*e.figure, e.after);
    texts.push_back(
        fmt::format("{}{} {}", escaped(e.figure->name), e.figure->kind == FigureKind::busy ? " busy" : "",
                    same ? "stays " + figure_text(*e.figure, e.after)
                         : figure_text(*e.figure, e.before) + " \u2192 " + figure_text(*e.figure, e.after)));
  }
  return joined(texts, "; ");
}

std::string dependence(const ReportInput& in, const Subject& s, std::size_t factor) {
  for (const Interaction& i : s.effects.interactions) {
    if (i.share < kLeastInteraction) break;
    if (i.first != factor && i.second != factor) continue;
    const std::size_t other = i.first == factor ? i.second : i.first;
    const Factor &f = in.factors[factor], &g = in.factors[other];
    const auto [a, b] = compared_levels(f, s.effects, factor);
    std::vector<std::string> texts;
    const auto [at_a, at_b] = s.matched(in.factors, factor, a, b);
    double least = INFINITY, most = -INFINITY;
    for (std::size_t l = 0; l < g.levels.size(); ++l) {
      std::vector<std::size_t> before, after;
      for (const std::size_t n : at_a)
        if (g.level_of[s.runs[n]] == l) before.push_back(n);
      for (const std::size_t n : at_b)
        if (g.level_of[s.runs[n]] == l) after.push_back(n);
      const double change = mean_logarithm(s, after) - mean_logarithm(s, before);
      // Its ends tell enough.
      if (std::isnan(change) || (l != 0 && l + 1 != g.levels.size())) continue;
      least = std::min(least, change);
      most = std::max(most, change);
      texts.push_back(fmt::format("{} at {}", change_text(std::exp(change)), escaped(g.levels[l].label)));
    }
    if (texts.size() < 2 || most - least < kLeastDependence) continue;
    return fmt::format("It depends on {}: {}.", name_of(g), joined(texts, ", "));
  }
  return {};
}

std::string limit_sentence(const ReportInput& in, const Subject& s) {
  const std::size_t best = s.best(), worst = s.worst();
  const auto at = [&](const char* which, std::size_t n) {
    return fmt::format("At its {} point ({}; {} {}) {}.", which,
                       escaped(settings_text(in.results, in.results.runs[s.runs[n]])),
                       number_text(s.metric[n]), escaped(in.metrics.front().unit),
                       limit_of(busiest(in, s, n)));
  };
  return best == worst ? at("only", best) : at("worst", worst) + " " + at("best", best);
}

std::string limit_phrase(const ReportInput& in, const Subject& s) {
  const auto at = [&](std::size_t n) {
    const auto [figure, busy] = busiest(in, s, n);
    if (figure == nullptr) return std::string("not known");
    return fmt::format("<b>{}</b>, {} of the time{}", escaped(figure->name), percent_text(busy),
                       busy >= kLimits ? " (limits)" : "");
  };
  const std::size_t best = s.best(), worst = s.worst();
  return best == worst ? at(best) : fmt::format("{} at the worst point; {} at the best", at(worst), at(best));
}

}  // namespace warpline::sweep
