#include "platform/consistency/checker.h"

#include "platform/consistency/search.h"

namespace warpline::litmus {

Verdict check(const Test& test, const CheckOptions& options) {
  Search::Question question;
  question.terms = test.condition.terms();
  question.wanted = [&](const Search::ValueOf& value_of) { return test.condition.in_question(value_of); };
  return Search(test, question, options).run();
}

Verdict check(const Test& test, const ObservedRun& seen, const CheckOptions& options) {
  Search::Question question;
  for (const auto& [term, value] : seen.end) question.terms.push_back(term);
  question.wanted = [&](const Search::ValueOf& value_of) {
    for (const auto& [term, value] : seen.end)
      if (value_of(term) != value) return false;
    return true;
  };
  question.seen = &seen;
  return Search(test, question, options).run();
}

}  // namespace warpline::litmus
