#include "platform/cli/litmus_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/cli/standstill_text.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

const char* verdict_word(const LitmusResult& r) {
  return r.verdict.allowed ? "allowed" : r.is_undecided() ? "undecided" : "forbidden";
}

/// Loops go on for longer than the model has followed them, and what it has not found may be there.
bool is_bounded(const LitmusResult& r) {
  return r.verdict.bounded && !r.verdict.allowed && !r.is_undecided();
}

/// "forbidden*": as far as it was looked.
std::string verdict_mark(const LitmusResult& r) {
  return std::string(verdict_word(r)) + (is_bounded(r) ? "*" : "");
}

constexpr const char* kBounded = "* as far as loops were followed (--unroll)\n";

std::string rate(const LitmusResult& r) {
  return r.seconds > 0 ? fmt::format("{:.0f}", static_cast<double>(r.report.runs) / r.seconds) : "-";
}

}  // namespace

std::string LitmusResult::name() const {
  constexpr std::string_view kSuffix = ".litmus";
  const bool is_bare = file.size() == kSuffix.size();
  return ends_with(file, kSuffix) && !is_bare ? file.substr(0, file.size() - kSuffix.size()) : file;
}

std::string litmus_json(const LitmusResult& r) {
  std::string outcomes;
  for (const litmus::Outcome& o : r.report.outcomes)
    outcomes += fmt::format("{}{}: {}", outcomes.empty() ? "" : ", ",
                            json_string(litmus::text_of(o, r.report.terms, r.test)), o.count);
  const std::string holds = r.test.holds.empty() ? ""
                                                 : fmt::format("\"held\": {}, \"gave_way\": {}, ",
                                                               r.report.held, r.report.gave_way);
  return fmt::format(
      "{{\"test\": {}, \"file\": {}, \"condition\": \"{}\", \"axiomatic\": \"{}\", \"axiom\": {}, "
      "\"mixed_size_race\": {}, \"observed\": {}, "
      "\"runs\": {}, \"stuck\": {}, \"terminates\": {}, {}\"outcomes\": {{{}}}}}\n",
      json_string(r.name()), json_string(r.file), r.test.condition.kind_name(), verdict_word(r),
      r.verdict.axiom.empty() ? "null" : json_string(r.verdict.axiom),
      r.verdict.mixed_size_race.empty() ? "null" : json_string(r.verdict.mixed_size_race), r.observed(),
      r.report.runs, r.report.stuck, r.terminates(), holds, outcomes);
}

std::string litmus_text(const LitmusResult& r) {
  const auto& t = r.test;
  std::string out = fmt::format("{}: {} {}\n", r.name(), t.condition.kind_name(), t.condition.text);
  const char* const what = t.condition.kind == litmus::Condition::Kind::forall
                               ? "an end that violates the condition"
                               : "an end that satisfies the condition";
  out += fmt::format("  model     {} is {}{}\n", what, verdict_mark(r),
                     r.verdict.axiom.empty() ? "" : " by " + r.verdict.axiom);
  if (is_bounded(r)) out += fmt::format("            {}", kBounded);
  if (!r.verdict.mixed_size_race.empty())
    out += fmt::format(
        "  remark    {}\n"
        "            are a mixed-size data race, of which PTX promises nothing: its axioms are\n"
        "            applied all the same\n",
        r.verdict.mixed_size_race);
  if (!r.barriers_can_be_met) out += "  barriers  one waits for more threads than ever come\n";
  if (r.report.runs == 0) return out;
  out += fmt::format("  platform  seen in {} of {} runs, {} runs/s\n", r.report.in_question, r.report.runs,
                     rate(r));
  if (!t.holds.empty())
    out += fmt::format("  holds     held something in {} runs; in {} one had to give way\n", r.report.held,
                       r.report.gave_way);
  if (r.report.faulted != 0)
    out += fmt::format("  faults    {} runs did what PTX does not allow; the first: {}\n", r.report.faulted,
                       r.report.fault);
  if (r.report.stuck != 0)
    out += fmt::format("  stuck     {} runs did not end; the first:\n", r.report.stuck) +
           standstill_text(r.report.standstill);
  out += "\n";
  for (const litmus::Outcome& o : r.report.outcomes)
    out += fmt::format("{:>12} {} {}\n", o.count, o.in_question ? '*' : ' ',
                       litmus::text_of(o, r.report.terms, t));
  return out;
}

std::string litmus_table(const std::vector<LitmusResult>& results) {
  std::vector<const LitmusResult*> rows;
  rows.reserve(results.size());
  for (const LitmusResult& r : results) rows.push_back(&r);
  // Violations, then what does not end, then what the model forbids and was not seen.
  const auto rank = [](const LitmusResult* r) { return r->is_violation() ? 0 : !r->terminates() ? 1 : 2; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const LitmusResult* a, const LitmusResult* b) { return rank(a) < rank(b); });
  std::size_t width = 4;
  for (const LitmusResult& r : results) width = std::max(width, r.name().size());
  std::string out = fmt::format("{:<{}}  {:<9}  {:<10}  {:>10}  {:>10}  {:>8}\n", "test", width, "condition",
                                "model", "seen", "runs", "stuck");
  std::size_t violations = 0, bounded = 0, seen = 0;
  for (const LitmusResult* r : rows) {
    violations += r->is_violation();
    seen += r->observed();
    bounded += is_bounded(*r);
    out += fmt::format("{:<{}}  {:<9}  {:<10}  {:>10}  {:>10}  {:>8}{}\n", r->name(), width,
                       r->test.condition.kind_name(), verdict_mark(*r), r->report.in_question, r->report.runs,
                       r->report.stuck,
                       r->is_violation()         ? is_bounded(*r) ? "  VIOLATION*" : "  VIOLATION"
                       : !r->barriers_can_be_met ? "  a barrier is never met"
                                                 : "");
  }
  if (bounded != 0) out += kBounded;
  out += fmt::format("\n{} tests, {} whose outcome in question was seen, {} forbidden and seen\n",
                     results.size(), seen, violations);
  return out;
}

}  // namespace warpline
