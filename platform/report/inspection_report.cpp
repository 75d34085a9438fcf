#include "platform/report/inspection_report.h"

#include <algorithm>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// Rows shown of one variable or register.
constexpr std::size_t kMostRows = 64;

struct Values {
  std::uint64_t first = 0;
  std::vector<std::uint32_t> values;
};

std::string decimal(std::uint32_t value) {
  return std::to_string(static_cast<std::int32_t>(value));
}

std::string index(const std::string& name, std::uint64_t first, std::uint64_t last) {
  std::string out = name + "[" + std::to_string(first);
  if (last != first) out += ".." + std::to_string(last);
  return out + "]";
}

/// One row for each run of equal values.
std::string rows(const std::string& name, const Values& v) {
  struct Row {
    std::string where;
    std::uint32_t value;
  };
  std::vector<Row> out;
  std::size_t runs = 0;
  for (std::size_t n = 0; n < v.values.size();) {
    std::size_t end = n + 1;
    while (end < v.values.size() && v.values[end] == v.values[n]) ++end;
    if (runs++ < kMostRows) out.push_back({index(name, v.first + n, v.first + end - 1), v.values[n]});
    n = end;
  }
  std::size_t width = 0, digits = 0;
  for (const Row& r : out) {
    width = std::max(width, r.where.size());
    digits = std::max(digits, decimal(r.value).size());
  }
  std::string text;
  for (const Row& r : out) {
    const std::string number = decimal(r.value);
    text.append(r.where).append(width - r.where.size() + 2, ' ').append(hexadecimal(r.value, 8));
    text.append(digits - number.size() + 2, ' ').append(number).append("\n");
  }
  if (runs > out.size()) text += "... and " + std::to_string(runs - out.size()) + " rows more\n";
  return text;
}

/// The values meant; of a range that ends beyond what there is, those that there are.
Values values_of(const Inspected& what, const programs::Module& module,
                 const std::map<std::string, std::uint64_t>& addresses, const GpuPlatform& platform) {
  const Inspection& inspection = *module.inspection();
  std::uint64_t count = inspection.threads;
  for (const programs::Variable& v : module.variables())
    if (!what.is_register && v.name == what.name) count = v.initial.size() / sizeof(std::uint32_t);
  Values v;
  v.first = what.whole ? 0 : what.first;
  const std::uint64_t end = what.whole ? count : std::min(what.last + 1, count);
  if (v.first >= end) return v;
  v.values.resize(end - v.first);
  if (what.is_register) {
    for (std::uint64_t t = v.first; t < end; ++t) v.values[t - v.first] = inspection.value(what.reg, t);
  } else {
    constexpr std::size_t kWord = sizeof(std::uint32_t);
    platform.read(addresses.at(what.name) + v.first * kWord, v.values.data(), v.values.size() * kWord);
  }
  return v;
}

/// Why the values are not as expected, or nothing.
std::string difference(const InspectedValue& expected, const Values& v, const Inspection& inspection) {
  const Inspected& what = expected.what;
  const std::string place = inspection.file + ":" + std::to_string(expected.line) + ": ";
  if (v.values.empty() || (!what.whole && v.values.size() != what.last - what.first + 1))
    return place + index(what.name, what.first, what.last) + ": the CTA has " +
           std::to_string(inspection.threads) + " threads";
  const auto differs = [&](std::uint32_t got) { return got != expected.value; };
  const auto first = std::find_if(v.values.begin(), v.values.end(), differs);
  if (first == v.values.end()) return {};
  const auto at = v.first + static_cast<std::uint64_t>(first - v.values.begin());
  std::string sentence = place;
  if (v.values.size() > 1)
    sentence += std::to_string(std::count_if(first, v.values.end(), differs)) + " of " +
                std::to_string(v.values.size()) + " values differ; first ";
  return sentence + index(what.name, at, at) + ": got " + hexadecimal(*first, 8) + " (" + decimal(*first) +
         "), wanted " + hexadecimal(expected.value, 8) + " (" + decimal(expected.value) + ")";
}

}  // namespace

InspectionReport inspect(const programs::Module& module,
                         const std::map<std::string, std::uint64_t>& addresses, const GpuPlatform& platform) {
  InspectionReport report;
  if (module.inspection() == nullptr) return report;
  const Inspection& inspection = *module.inspection();
  for (const Inspected& what : inspection.shown)
    report.text += rows(what.name, values_of(what, module, addresses, platform));
  for (const InspectedValue& expected : inspection.expected) {
    report.comparisons.push_back(
        {expected.what.name,
         difference(expected, values_of(expected.what, module, addresses, platform), inspection)});
  }
  return report;
}

}  // namespace warpline
