#pragma once

#include <string>
#include <vector>

#include "platform/consistency/checker.h"
#include "platform/consistency/program.h"
#include "platform/consistency/runner.h"
#include "platform/consistency/test.h"

namespace warpline {

/// What is known of one litmus test when its model and its runs have been asked.
struct LitmusResult {
  std::string file;  ///< as it was found
  litmus::Test test;
  litmus::Verdict verdict;
  litmus::RunReport report;
  double seconds = 0;  ///< that the runs took
  bool barriers_can_be_met = true;

  /// The file's path without its suffix: names in the files repeat.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool observed() const { return report.in_question != 0; }
  /// The model has given up before it found the outcome or had looked at all executions.
  [[nodiscard]] bool is_undecided() const { return !verdict.allowed && !verdict.gave_up.empty(); }
  /// A forbidden outcome was seen: the platform breaks the model.
  [[nodiscard]] bool is_violation() const { return observed() && !verdict.allowed && !is_undecided(); }
  [[nodiscard]] bool terminates() const { return report.stuck == 0 && barriers_can_be_met; }
};

/// One line of JSON.
[[nodiscard]] std::string litmus_json(const LitmusResult& result);
/// One test at length: verdict, and a histogram of what was seen.
[[nodiscard]] std::string litmus_text(const LitmusResult& result);
/// A row for each test, violations first.
[[nodiscard]] std::string litmus_table(const std::vector<LitmusResult>& results);

}  // namespace warpline
