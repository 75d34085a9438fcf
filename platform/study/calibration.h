#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/study/measured_row.h"

namespace warpline::study {

/// A row, and what the device says to it.
struct RowResult {
  const MeasuredRow* row = nullptr;
  bool answered = false;
  double measured = 0;  ///< in the row's unit
  std::string refused;  ///< why it is not answered
  double seconds = 0;   ///< of the host, that it took
  /// Per cent of the published value; positive: the device has more.
  [[nodiscard]] double error() const { return (measured / row->value - 1) * 100; }
  [[nodiscard]] bool within() const;
};

/// How well a class of rows is met.
struct ClassSummary {
  std::string kind;  ///< empty: all
  unsigned rows = 0, answered = 0, within = 0;
  double median = 0, worst = 0;  ///< of the absolute errors of those answered, per cent
};

/// Measures a row. Never throws: what goes wrong is why it is refused.
[[nodiscard]] RowResult measure(BenchDevice& device, const MeasuredRow& row);

/// Measures a row an odd number of times, as hardware needs it, and takes the median.
[[nodiscard]] RowResult measure_often(BenchDevice& device, const MeasuredRow& row, unsigned times);

/// By class, those with the most rows first, and all together at the end. Rows without tolerance do not
/// count.
[[nodiscard]] std::vector<ClassSummary> summarise(const std::vector<RowResult>& results);

/// Both as aligned text.
[[nodiscard]] std::string rows_text(const std::vector<RowResult>& results);
[[nodiscard]] std::string summary_text(const std::vector<ClassSummary>& summaries);

}  // namespace warpline::study
