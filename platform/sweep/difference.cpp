#include "platform/sweep/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline::sweep {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;

/// A file of statistics, as far as it is compared.
Result<json> read_statistics(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text.ok()) return text.faults();
  json read = json::parse(text.value(), nullptr, false);
  const auto has = [&read](const char* key, json::value_t type) {
    return read.contains(key) && read[key].type() == type;
  };
  if (!read.is_object() || !has("counters", json::value_t::object) ||
      !has("configuration", json::value_t::object) || !has("cycles", json::value_t::number_unsigned))
    return Diagnostic::about(path, "is no file of statistics", "`warpline run ... --stats FILE` writes one");
  for (const auto& [name, counter] : read["counters"].items())
    if (!counter.is_object() || !counter.contains("value") || !counter["value"].is_number_unsigned())
      return Diagnostic::about(path, "counter " + name + " has no value");
  return read;
}

std::string shown(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Columns of texts, the first to the left and the others to the right.
class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t n = 0; n < row.size(); ++n) {
        widths.resize(std::max(widths.size(), n + 1));
        widths[n] = std::max(widths[n], row[n].size());
      }
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t n = 0; n < row.size(); ++n)
        line +=
            n == 0 ? fmt::format("{:<{}}", row[n], widths[n]) : fmt::format("  {:>{}}", row[n], widths[n]);
      out += std::string(line.substr(0, line.find_last_not_of(' ') + 1)) + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string percent(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "=";
  if (before == 0) return "new";
  const double change =
      100 * (static_cast<double>(after) - static_cast<double>(before)) / static_cast<double>(before);
  return std::abs(change) < 1000
             ? fmt::format("{:+.1f}%", change)
             : fmt::format("x {:.1f}", static_cast<double>(after) / static_cast<double>(before));
}

std::string change_of(std::uint64_t before, std::uint64_t after) {
  return after >= before ? "+" + grouped(after - before) : "-" + grouped(before - after);
}

/// A counter of both runs.
struct Pair {
  std::string name, unit;
  std::uint64_t before = 0, after = 0;
  [[nodiscard]] double distance() const {
    return std::abs(static_cast<double>(after) - static_cast<double>(before));
  }
  /// Of the larger one, the part that the other lacks.
  [[nodiscard]] double share() const {
    return distance() == 0 ? 0 : distance() / static_cast<double>(std::max(before, after));
  }
};

std::vector<Pair> pairs_of(const json& a, const json& b, const DifferenceOptions& options) {
  std::map<std::string, Pair> all;
  const auto take = [&](const json& run, std::uint64_t Pair::*side) {
    for (const auto& [name, counter] : run["counters"].items()) {
      if (!options.instances && name.find('[') != std::string::npos) continue;
      Pair& p = all[name];
      p.name = name;
      p.unit = counter.value("unit", "");
      p.*side = counter["value"].get<std::uint64_t>();
    }
  };
  take(a, &Pair::before);
  take(b, &Pair::after);
  std::vector<Pair> out;
  for (auto& [name, pair] : all)
    if (100 * pair.share() >= options.threshold && pair.distance() != 0) out.push_back(std::move(pair));
  return out;
}

std::string block_of(const std::string& counter) {
  return counter.substr(0, counter.rfind('.'));
}

void add_counter(Table& table, const Pair& p) {
  table.add({"  " + p.name, grouped(p.before), grouped(p.after), change_of(p.before, p.after),
             percent(p.before, p.after), p.unit});
}

Result<std::string> compare(const std::string& first, const std::string& second,
                            const DifferenceOptions& options);

}  // namespace

Result<std::string> difference_of(const std::string& first, const std::string& second,
                                  const DifferenceOptions& options) {
  try {
    return compare(first, second, options);
  } catch (const json::exception& e) {
    return Diagnostic::about(first, "these are no statistics of runs: " + std::string(e.what()), second);
  }
}

namespace {

Result<std::string> compare(const std::string& first, const std::string& second,
                            const DifferenceOptions& options) {
  const Result<json> read_a = read_statistics(first), read_b = read_statistics(second);
  if (!read_a.ok() || !read_b.ok()) {
    Diagnostics faults;
    for (const Result<json>* r : {&read_a, &read_b})
      if (!r->ok()) faults.insert(faults.end(), r->faults().begin(), r->faults().end());
    return faults;
  }
  const json &a = read_a.value(), &b = read_b.value();
  // What a file does not have would look as if it had fallen to nothing.
  if (options.instances)
    for (const auto& [run, path] : {std::pair(&a, &first), std::pair(&b, &second)})
      if (run->value("stats_counters", "all") == "totals")
        return Diagnostic::about(*path, "has no counters of single blocks, which --instances shows",
                                 "it was written with --stats-counters totals");
  Table runs;
  runs.add({"", first, second});
  for (const char* key : {"warpline", "gpu", "transport", "outcome"})
    runs.add({key, shown(a.value(key, json{})), shown(b.value(key, json{}))});
  const auto cycles_a = a["cycles"].get<std::uint64_t>(), cycles_b = b["cycles"].get<std::uint64_t>();
  runs.add({"cycles", grouped(cycles_a), grouped(cycles_b), change_of(cycles_a, cycles_b),
            percent(cycles_a, cycles_b)});
  std::string out = runs.text();

  Table settings;
  for (const char* of : {"options", "configuration"}) {
    const json before = a.value(of, json::object()), after = b.value(of, json::object());
    json names = before;
    names.update(after);
    for (const auto& [key, value] : names.items()) {
      const json x = before.value(key, json{}), y = after.value(key, json{});
      if (x != y) settings.add({"  " + key, shown(x), shown(y)});
    }
  }
  std::map<std::string, std::pair<std::string, std::string>> hashes;
  for (const json& f : a.value("files", json::array()))
    hashes[f.value("path", "")].first = f.value("sha256", "");
  for (const json& f : b.value("files", json::array()))
    hashes[f.value("path", "")].second = f.value("sha256", "");
  const auto brief = [](const std::string& hash) { return hash.empty() ? "-" : hash.substr(0, 12); };
  for (const auto& [path, hash] : hashes)
    if (hash.first != hash.second) settings.add({"  " + path, brief(hash.first), brief(hash.second)});
  out += settings.empty() ? "\nconfigurations, options and files are the same\n"
                          : "\nconfiguration, options and files\n" + settings.text();

  std::vector<Pair> pairs = pairs_of(a, b, options);
  // What is counted in cycles is time that somebody waited or worked: what of it changed most explains most.
  Table times;
  std::vector<Pair> in_cycles;
  for (const Pair& p : pairs)
    if (p.unit == "cycles") in_cycles.push_back(p);
  std::stable_sort(in_cycles.begin(), in_cycles.end(),
                   [](const Pair& x, const Pair& y) { return x.distance() > y.distance(); });
  for (const Pair& p : in_cycles) add_counter(times, p);
  if (!times.empty())
    out += "\ncycles of waiting and working, those first that changed most\n" + times.text();

  // Blocks in the order of what changed most in them, and so the counters of each.
  std::map<std::string, double> blocks;
  for (const Pair& p : pairs)
    if (p.unit != "cycles") {
      double& share = blocks[block_of(p.name)];
      share = std::max(share, p.share());
    }
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [](const Pair& p) { return p.unit == "cycles"; }),
              pairs.end());
  std::stable_sort(pairs.begin(), pairs.end(), [&blocks](const Pair& x, const Pair& y) {
    const std::string bx = block_of(x.name), by = block_of(y.name);
    if (bx != by) return blocks[bx] != blocks[by] ? blocks[bx] > blocks[by] : bx < by;
    return x.share() > y.share();
  });
  Table counters;
  std::string block;
  for (const Pair& p : pairs) {
    if (block_of(p.name) != block) {
      block = block_of(p.name);
      counters.add({block});
    }
    add_counter(counters, p);
  }
  if (counters.empty() && times.empty())
    return out + fmt::format("\nno counter differs by {}% or more\n", options.threshold);
  if (!counters.empty()) out += "\ncounters by block\n" + counters.text();
  return out;
}

}  // namespace
}  // namespace warpline::sweep
