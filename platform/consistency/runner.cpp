#include "platform/consistency/runner.h"

#include <algorithm>
#include <map>

#include "rtl_models/base/random.h"

namespace warpline::litmus {
namespace {

std::string name_of(const Term& term, const Test& test) {
  if (term.kind == Term::Kind::location) return test.locations[term.number].name;
  const Thread& thread = test.threads[term.thread];
  return thread.name + ":" + thread.registers[term.number];
}

}  // namespace

RunReport run(Machine& machine, const Test& test, const RunSeries& plan,
              const std::function<bool(std::uint64_t)>& progress) {
  constexpr std::uint64_t kProgressRuns = 256;
  RunReport report;
  report.terms = test.condition.terms();
  if (plan.runs == 0) return report;
  machine.load(test);
  const std::uint64_t seed = splitmix64(plan.seed);
  std::map<std::vector<std::int64_t>, std::uint64_t> counts;  // runs by their values
  std::vector<std::int64_t> values(report.terms.size());
  while (report.runs < plan.runs) {
    const bool ended = machine.run(splitmix64(seed + report.runs++), plan.most_cycles);
    report.held += machine.held();
    report.gave_way += machine.gave_way();
    if (ended) {
      for (std::size_t n = 0; n < values.size(); ++n) values[n] = machine.value(report.terms[n]);
      ++counts[values];
    } else if (!machine.fault().empty()) {
      if (report.faulted++ == 0) report.fault = machine.fault();
    } else {
      ++report.stuck;
    }
    if (progress && report.runs % kProgressRuns == 0 && !progress(report.runs)) break;
  }
  report.standstill = machine.standstill();
  for (const auto& [seen, count] : counts) {
    const bool in_question = test.condition.in_question([&, &values = seen](const Term& term) {
      const auto at = std::find(report.terms.begin(), report.terms.end(), term);
      return values[static_cast<std::size_t>(at - report.terms.begin())];
    });
    report.outcomes.push_back({seen, count, in_question});
    if (in_question) report.in_question += count;
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
