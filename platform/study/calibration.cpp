#include "platform/study/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <map>

namespace warpline::study {

bool RowResult::within() const {
  return answered && std::abs(error()) <= row->tolerance;
}

RowResult measure(BenchDevice& device, const MeasuredRow& row) {
  RowResult result;
  result.row = &row;
  result.refused = row.refused;
  if (row.quantity == nullptr) return result;
  const auto begin = std::chrono::steady_clock::now();
  try {
    device.clear();
    const double measured = in_unit_of(row, row.quantity->measure(device, row.arguments), device.shape());
    if (!std::isfinite(measured) || measured <= 0) {
      result.refused = "the measurement came to nothing";
    } else {
      result.measured = measured;
      result.answered = true;
    }
  } catch (const BenchError& e) {
    result.refused = e.what;
  } catch (const std::exception& e) {
    result.refused = e.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

RowResult measure_often(BenchDevice& device, const MeasuredRow& row, unsigned times) {
  std::vector<RowResult> results;
  for (unsigned n = 0; n < times; ++n) {
    results.push_back(measure(device, row));
    if (!results.back().answered) return results.back();
  }
  const auto middle = results.begin() + times / 2;
  std::nth_element(results.begin(), middle, results.end(),
                   [](const RowResult& a, const RowResult& b) { return a.measured < b.measured; });
  return *middle;
}

std::vector<ClassSummary> summarise(const std::vector<RowResult>& results) {
  std::map<std::string, std::vector<double>> errors;
  std::map<std::string, ClassSummary> by_class;
  for (const RowResult& r : results) {
    if (r.row->tolerance == 0) continue;
    for (const std::string& kind : {r.row->kind, std::string{}}) {
      ClassSummary& s = by_class[kind];
      s.kind = kind;
      ++s.rows;
      if (!r.answered) continue;
      ++s.answered;
      if (r.within()) ++s.within;
      errors[kind].push_back(std::abs(r.error()));
    }
  }
  std::vector<ClassSummary> out;
  for (auto& [kind, s] : by_class) {
    std::vector<double>& e = errors[kind];
    std::sort(e.begin(), e.end());
    if (!e.empty()) {
      s.median = (e[(e.size() - 1) / 2] + e[e.size() / 2]) / 2;
      s.worst = e.back();
    }
    out.push_back(s);
  }
  std::stable_sort(out.begin(), out.end(), [](const ClassSummary& a, const ClassSummary& b) {
    return a.kind.empty() != b.kind.empty() ? b.kind.empty() : a.rows > b.rows;
  });
  return out;
}

namespace {

std::string number(double v) {
  return std::abs(v) >= 1e6   ? fmt::format("{:.0f}", v)
         : std::abs(v) >= 100 ? fmt::format("{:.1f}", v)
                              : fmt::format("{:.2f}", v);
}

}  // namespace

std::string rows_text(const std::vector<RowResult>& results) {
  std::size_t width = 3;
  for (const RowResult& r : results) width = std::max(width, r.row->id.size());
  std::string out = fmt::format("{:<{}}  {:>12}  {:>12}  {:<11}  {:>7}\n", "row", width, "published", "here",
                                "unit", "error");
  for (const RowResult& r : results) {
    out += fmt::format("{:<{}}  {:>12}  ", r.row->id, width, number(r.row->value));
    if (r.answered) {
      const char* const verdict = r.row->tolerance == 0 ? "" : r.within() ? "" : "  beyond tolerance";
      out +=
          fmt::format("{:>12}  {:<11}  {:>+6.1f}%{}\n", number(r.measured), r.row->unit, r.error(), verdict);
    } else {
      out += fmt::format("{:>12}  {:<11}  {}\n", "-", r.row->unit, r.refused);
    }
  }
  return out;
}

std::string summary_text(const std::vector<ClassSummary>& summaries) {
  std::size_t width = 5;
  for (const ClassSummary& s : summaries) width = std::max(width, s.kind.size());
  std::string out = fmt::format("{:<{}}  {:>5}  {:>8}  {:>12}  {:>6}  {:>6}\n", "class", width, "rows",
                                "answered", "median error", "worst", "within");
  for (const ClassSummary& s : summaries) {
    const std::string share = s.answered == 0 ? "-" : fmt::format("{:.0f}%", 100.0 * s.within / s.answered);
    out += fmt::format("{:<{}}  {:>5}  {:>8}  {:>12}  {:>6}  {:>6}\n", s.kind.empty() ? "all" : s.kind, width,
                       s.rows, s.answered, s.answered == 0 ? "-" : fmt::format("{:.1f}%", s.median),
                       s.answered == 0 ? "-" : fmt::format("{:.0f}%", s.worst), share);
  }
  return out;
}

}  // namespace warpline::study
