#include "platform/sweep/beside_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "platform/sweep/condition.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

using nlohmann::json;

/// Of all counts of one kind together: SQLite has numbers of 64 bits with a sign.
constexpr std::uint64_t kMostCounted = INT64_MAX;
/// Columns of a series that say which span a row is: launch, kernel, first, last.
constexpr std::size_t kSpanColumns = 4;
/// Cycles that a series can tell apart as it is drawn.
constexpr double kMostCycle = 9007199254740992.0;

/// Adds what may be counts; false: some can be none.
class Sum {
 public:
  bool add(const json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostCounted - sum_) return false;
    sum_ += value.get<std::uint64_t>();
    return true;
  }
  [[nodiscard]] std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

/// Whether all numbers in `value`, whatever they are called, are counts.
bool has_counts(const json& value) {
  if (value.is_number()) return Sum{}.add(value);
  return !value.is_structured() ||
         std::all_of(value.begin(), value.end(), [](const json& inner) { return has_counts(inner); });
}

/// A run that goes on from a checkpoint has counted what was before it, too.
bool is_restored(const json& run) {
  const json& command = run.at("command");
  return std::any_of(command.begin(), command.end(), [](const json& word) {
    return word.is_string() && word.get_ref<const std::string&>().rfind("--restore", 0) == 0;
  });
}

/// Kernels of a launch stand beside each other: "a + b".
bool is_launched(const json& run, const std::string& kernel) {
  const json& launches = run.at("launches");
  return std::any_of(launches.begin(), launches.end(), [&kernel](const json& launch) {
    const std::string launched = launch.is_object() ? launch.value("kernel", std::string{}) : std::string{};
    return (" + " + launched + " + ").find(" + " + kernel + " + ") != std::string::npos;
  });
}

Diagnostics other_run(const std::string& path, const std::string& how) {
  return {Diagnostic::about(path, "is of another run than the statistics beside it: " + how,
                            "one for each, in the order of the runs")};
}

Diagnostics unlike(const std::string& path, const json& own, const json& run) {
  for (const char* const what : {"gpu", "transport"})
    if (own.value(what, json{}) != run.value(what, json{}))
      return other_run(path, fmt::format("its {} is {}, and not {}", what, own.value(what, json{}).dump(),
                                         run.value(what, json{}).dump()));
  return {};
}

Diagnostics read_profile(const std::string& path, const json& profile, const json& run) {
  if (Diagnostics faults = unlike(path, profile, run); !faults.empty()) return faults;
  Sum issued, waited;
  for (const json& kernel : profile.at("kernels")) {
    const auto name = kernel.at("name").get<std::string>();
    if (!has_counts(kernel) || !kernel.at("warps").is_number_unsigned() ||
        !kernel.at("warp_cycles").is_number_unsigned())
      return {Diagnostic::about(path, "kernel " + name + ": has numbers that are no counts")};
    if (!is_launched(run, name)) return other_run(path, "that did not launch " + name);
    for (const json& line : kernel.at("lines")) {
      (void)line.at("where").get_ref<const std::string&>();
      bool fits = issued.add(line.at("issued"));
      (void)line.at("stalls").get_ref<const json::object_t&>();
      for (const auto& [reason, cycles] : line.at("stalls").items()) fits = fits && waited.add(cycles);
      if (!fits) return {Diagnostic::about(path, "kernel " + name + ": counts more than there can be")};
      if (const auto memory = line.find("memory"); memory != line.end())
        for (const char* const part : {"answered", "latency"})
          (void)memory->at(part).get_ref<const json::object_t&>();
    }
  }
  const std::uint64_t counted =
      run.at("counters").value("sm.instructions", json::object()).value("value", std::uint64_t{0});
  if (is_restored(run) ? issued.value() > counted : issued.value() != counted)
    return other_run(path, fmt::format("its lines issued {} instructions, and that {}",
                                       grouped(issued.value()), grouped(counted)));
  return {};
}

}  // namespace

std::vector<std::string> row_fields(std::string_view row) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : row) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

Diagnostics faults_of_profile(const std::string& path, const std::string& text, const json& run) {
  const json profile = json::parse(text, nullptr, false);
  if (!profile.is_object() || !profile.contains("warpline_profile"))
    return {Diagnostic::about(path, "is no profile", "`warpline run --profile` writes these")};
  try {
    return read_profile(path, profile, run);
  } catch (const json::exception& e) {
    return {Diagnostic::about(path, std::string("is no profile that this version reads: ") + e.what(),
                              "`warpline run --profile` writes these")};
  }
}

Diagnostics faults_of_series(const std::string& path, const std::string& text, const json& run) {
  const auto damaged = [&path](std::size_t line, const std::string& what) -> Diagnostics {
    return {
        Diagnostic{path, static_cast<unsigned>(line), 0, {}, what, "`warpline run --series` writes these"}};
  };
  std::vector<std::string_view> rows = split(text, '\n');
  while (!rows.empty() && rows.back().empty()) rows.pop_back();
  if (rows.empty() || rows.front().rfind("launch,kernel,first,last", 0) != 0)
    return damaged(1, "has no figures over time: its head is not launch, kernel, first, last and figures");
  if (rows.size() == 1) return damaged(1, "has no spans");
  const std::size_t columns = row_fields(rows.front()).size();
  double end = 0;
  for (std::size_t n = 1; n < rows.size(); ++n) {
    const std::vector<std::string> fields = row_fields(rows[n]);
    if (fields.size() != columns) return damaged(n + 1, "has not as many fields as the head");
    const double first = real_number(fields[2]).value_or(NAN), last = real_number(fields[3]).value_or(NAN);
    if (!(first > end) || !(last >= first) || last > kMostCycle || std::floor(first) != first ||
        std::floor(last) != last)
      return damaged(n + 1, fmt::format("from {} to {} is no span of cycles behind those before it",
                                        fields[2], fields[3]));
    end = last;
    for (std::size_t f = kSpanColumns; f < columns; ++f)
      if (const double value = fields[f].empty() ? 0 : real_number(fields[f]).value_or(NAN);
          !(value >= 0 && value <= static_cast<double>(kMostCounted)))
        return damaged(n + 1, fields[f] + " is nothing that a span can have");
    if (!is_launched(run, fields[1])) return other_run(path, "that did not launch " + fields[1]);
  }
  if (is_restored(run)) return {};
  double sum = 0;  // with what was skipped
  for (const json& launch : run.at("launches"))
    sum += static_cast<double>(launch.value("cycles", std::uint64_t{0}));
  const auto whole = static_cast<double>(run.value("cycles", std::uint64_t{0}));
  if (end != whole && end != sum)
    return other_run(path, fmt::format("its last cycle is {:.0f}, and not {:.0f}", end, whole));
  return {};
}

}  // namespace warpline::sweep
