#include "platform/consistency/runner.h"

#include <algorithm>

#include "rtl_models/base/random.h"

namespace warpline::litmus {
namespace {

std::string name_of(const Term& term, const Test& test) {
  if (term.kind == Term::Kind::location) return test.locations[term.number].name;
  const Thread& thread = test.threads[term.thread];
  return thread.name + ":" + thread.registers[term.number];
}

/// The outcomes seen, found by their values without allocating anything for one seen before.
class Histogram {
 public:
  void add(const std::vector<std::int64_t>& values) {
    // The outcome of the last run is often that of the next.
    if (last_ < outcomes_.size() && outcomes_[last_].values == values) {
      ++outcomes_[last_].count;
      return;
    }
    const auto at =
        std::lower_bound(outcomes_.begin(), outcomes_.end(), values,
                         [](const Outcome& o, const std::vector<std::int64_t>& v) { return o.values < v; });
    last_ = static_cast<std::size_t>(at - outcomes_.begin());
    if (at == outcomes_.end() || at->values != values) {
      outcomes_.insert(at, {values, 1, false});
    } else {
      ++at->count;
    }
  }
  std::vector<Outcome> take() { return std::move(outcomes_); }

 private:
  std::vector<Outcome> outcomes_;  ///< by values
  std::size_t last_ = 0;
};

}  // namespace

RunReport run(Machine& machine, const Test& test, const RunSeries& plan,
              const std::function<bool(std::uint64_t)>& progress) {
  constexpr std::uint64_t kProgressRuns = 256;
  RunReport report;
  report.terms = test.condition.terms();
  if (plan.runs == 0) return report;
  machine.load(test);
  const std::uint64_t seed = splitmix64(plan.seed);
  Histogram histogram;
  std::vector<std::int64_t> values(report.terms.size());
  while (report.runs < plan.runs) {
    const bool ended = machine.run(splitmix64(seed + report.runs++), plan.most_cycles);
    report.held += machine.held();
    report.gave_way += machine.gave_way();
    if (ended) {
      for (std::size_t n = 0; n < values.size(); ++n) values[n] = machine.value(report.terms[n]);
      histogram.add(values);
    } else {
      ++report.stuck;
    }
    if (progress && report.runs % kProgressRuns == 0 && !progress(report.runs)) break;
  }
  report.outcomes = histogram.take();
  report.standstill = machine.standstill();
  for (Outcome& o : report.outcomes) {
    o.in_question = test.condition.in_question([&](const Term& term) {
      const auto at = std::find(report.terms.begin(), report.terms.end(), term);
      return o.values[static_cast<std::size_t>(at - report.terms.begin())];
    });
    if (o.in_question) report.in_question += o.count;
  }
  return report;
}

std::string text_of(const Outcome& outcome, const std::vector<Term>& terms, const Test& test) {
  std::string out;
  for (std::size_t n = 0; n < terms.size(); ++n)
    out += (n == 0 ? "" : " ") + name_of(terms[n], test) + "=" + std::to_string(outcome.values[n]);
  return out;
}

}  // namespace warpline::litmus
