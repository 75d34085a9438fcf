#include "platform/study/fit_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline::study {
namespace {

constexpr std::uint64_t kMostKeys = 32;
constexpr std::uint64_t kMostEvaluations = 1'000'000;
/// Of a key's value: TOML's integers.
constexpr std::uint64_t kMostValue = std::numeric_limits<std::int64_t>::max();

/// Whether two names stand for one GPU, which may have a short name.
bool same_gpu(const std::string& a, const std::string& b) {
  return a == b || (!preset_text(a).empty() && preset_text(a) == preset_text(b));
}

/// Where a table's key stands, or the table.
Place place_of(const TableReader& reader, std::string_view key) {
  const Member* const m = reader.table().find(key);
  return m == nullptr ? reader.place() : m->value.place;
}

class FitReader {
 public:
  FitReader(const Document& document, const std::string& gpu, const GpuConfig& config,
            const std::vector<MeasuredRow>& rows, Diagnostics& faults)
      : document_(document), gpu_(gpu), name_(config.name), rows_(rows), faults_(faults) {
    for (ConfigEntry& e : config_entries(config)) entries_[e.path()] = e.value;
  }

  FitPlan read() {
    TableReader top(document_, document_.root(), {}, "a file of keys", faults_);
    if (const auto named = top.text("gpu"); named && !same_gpu(*named, gpu_) && !same_gpu(*named, name_))
      top.fault(place_of(top, "gpu"), "gpu: these keys are of " + *named + ", and the GPU is " + gpu_);
    each(top, "key", [this](const Value& table) { read_key(table); });
    each(top, "rows", [this](const Value& table) { read_rows_of(table); });
    if (const Member* m = top.find("search"); m != nullptr) {
      if (m->value.kind == Value::Kind::table) {
        read_search(m->value, m->place);
      } else {
        top.fault(m->value.place, "search: must be a table");
      }
    } else {
      plan_.search.local = default_method();
    }
    top.finish();
    for (const auto& [row, found] : chosen_) plan_.rows.push_back(found);
    if (top.sound()) {
      if (plan_.keys.empty()) top.fault({}, "there is no [[key]]: which keys are to be found?");
      if (plan_.rows.empty()) top.fault({}, "there are no [[rows]]: from which are the keys to be found?");
    }
    return std::move(plan_);
  }

 private:
  template <class Read>
  void each(TableReader& top, const char* name, Read&& read) {
    const Member* const m = top.find(name);
    if (m == nullptr) return;
    if (m->value.kind != Value::Kind::array)
      return top.fault(m->value.place, fmt::format("{0}: must be [[{0}]] tables", name));
    for (const Value& item : m->value.items) {
      if (item.kind == Value::Kind::table) {
        read(item);
      } else {
        top.fault(item.place, std::string(name) + ": must be a table");
      }
    }
  }

  void read_key(const Value& table) {
    TableReader reader(document_, table, table.place, "[[key]]", faults_);
    FitKey key;
    key.path = reader.text("path", TableReader::required).value_or("");
    const auto lowest = reader.number("lowest", 0, kMostValue, TableReader::required);
    const auto highest = reader.number("highest", 0, kMostValue, TableReader::required);
    key.step = reader.number("step", 1, kMostValue).value_or(1);
    const auto own_start = reader.number("start", 0, kMostValue);
    const Member* const also = reader.find("also");
    reader.finish();
    const Place path_at = place_of(reader, "path");
    if (reader.table().find("path") != nullptr && reader.sound()) check_path(reader, key.path, path_at);
    const std::uint64_t preset_value = preset_value_;
    if (also != nullptr) read_also(reader, also->value, key);
    if (lowest && highest && *lowest >= *highest)
      reader.fault(place_of(reader, "highest"),
                   fmt::format("highest: {} is not above lowest, {}", *highest, *lowest));
    if (!reader.sound()) return;
    key.lowest = *lowest;
    key.highest = *highest;
    key.start = own_start.value_or(preset_value);
    if (key.start < key.lowest || key.start > key.highest) {
      const std::string whose = own_start ? "start" : key.path + " of " + gpu_;
      return reader.fault(
          own_start ? place_of(reader, "start") : path_at,
          fmt::format("{}: {} is not within {} to {}", whose, key.start, key.lowest, key.highest),
          own_start ? "" : "start = N begins elsewhere");
    }
    if (key.steps_down() + key.steps_up() == 0)
      return reader.fault(place_of(reader, "step"), fmt::format("step: a step of {} leaves {} to {} at once",
                                                                key.step, key.lowest, key.highest));
    constexpr std::int64_t kMostSteps = 1'000'000'000;
    if (key.steps_down() > kMostSteps || key.steps_up() > kMostSteps)
      return reader.fault(place_of(reader, "highest"),
                          "highest: these are more than a thousand million steps",
                          "a larger step, or narrower bounds");
    plan_.keys.push_back(key);
    if (plan_.keys.size() == kMostKeys + 1)
      reader.fault(table.place, fmt::format("a fit has at most {} keys", kMostKeys));
  }

  /// Keys that go with `key`, by name or as `{ path = "...", plus = N }`.
  void read_also(TableReader& reader, const Value& value, FitKey& key) {
    if (value.kind != Value::Kind::array)
      return reader.fault(value.place, "also: must be an array of keys, or of { path = \"...\", plus = N }");
    for (const Value& item : value.items) {
      FitFollower follower;
      Place at = item.place;
      if (item.kind == Value::Kind::table) {
        TableReader one(document_, item, item.place, "also", faults_);
        follower.path = one.text("path", TableReader::required).value_or("");
        follower.plus = one.number("plus", 0, kMostValue / 2).value_or(0);
        one.finish();
        at = place_of(one, "path");
        if (!one.sound()) continue;
      } else if (item.kind == Value::Kind::text) {
        follower.path = item.text;
      } else {
        reader.fault(item.place, "also: must be a key, or { path = \"...\", plus = N }");
        continue;
      }
      check_path(reader, follower.path, at);
      key.also.push_back(follower);
    }
  }

  void check_path(TableReader& reader, const std::string& path, Place at) {
    const auto entry = entries_.find(path);
    if (entry == entries_.end())
      return reader.fault(at, "path: there is no key \"" + path + "\"", did_you_mean(path, config_keys()));
    const std::string& value = entry->second;
    if (value.empty()) return reader.fault(at, "path: " + path + " is a table, and no key");
    if (!std::all_of(value.begin(), value.end(), is_digit))
      return reader.fault(at, fmt::format("path: {} is no number, but {}", path, value),
                          "keys that are whole numbers can be found");
    if (!named_.insert(path).second) return reader.fault(at, "path: " + path + " stands here twice");
    preset_value_ = std::stoull(value);
    if (preset_value_ > kMostValue) reader.fault(at, "path: " + path + " is larger than 2^63 - 1");
  }

  void read_rows_of(const Value& table) {
    constexpr double kLeastShare = 1e-6, kMostShare = 1e6;
    TableReader reader(document_, table, table.place, "[[rows]]", faults_);
    const auto weight = reader.magnitude("weight");
    const auto tolerance = reader.magnitude("tolerance");
    for (const auto& [name, given] : {std::pair{"weight", weight}, std::pair{"tolerance", tolerance}})
      if (given && (*given < kLeastShare || *given > kMostShare))
        reader.fault(place_of(reader, name), std::string(name) + ": must be from 0.000001 to 1000000");
    const Member* const match = reader.find("match", TableReader::required);
    reader.finish();
    if (match == nullptr) return;
    const std::vector<Value> one{match->value};
    for (const Value& pattern : match->value.kind == Value::Kind::array ? match->value.items : one) {
      if (pattern.kind != Value::Kind::text || pattern.text.empty()) {
        reader.fault(pattern.place, "match: must be a pattern of names of rows, or an array of them");
      } else {
        take(reader, pattern, tolerance.value_or(0), weight.value_or(1));
      }
    }
  }

  /// The rows of the GPU that fit a pattern. One that is named whole must be there and measurable; of those
  /// that a pattern with stars means, those are taken that are.
  void take(TableReader& reader, const Value& pattern, double tolerance, double weight) {
    const bool whole = pattern.text.find_first_of("*?") == std::string::npos;
    std::string why;
    unsigned taken = 0;
    for (const MeasuredRow& row : rows_) {
      if (!glob_matches(pattern.text, row.id)) continue;
      if (!same_gpu(row.gpu, name_)) {
        if (why.empty()) why = "is of " + row.gpu + ", and the GPU is " + name_;
        continue;
      }
      if (row.quantity == nullptr) {
        why = "is not answered: " + row.refused;
      } else if (tolerance == 0 && row.tolerance == 0) {
        why = "has no tolerance, by which its error is judged; [[rows]] may give one";
      } else {
        chosen_[&row] = {&row, tolerance == 0 ? row.tolerance : tolerance, weight};
        ++taken;
      }
    }
    if (taken != 0) return;
    if (why.empty()) {
      std::vector<std::string> ids;
      for (const MeasuredRow& row : rows_)
        if (same_gpu(row.gpu, name_)) ids.push_back(row.id);
      why = fmt::format("fits none of {}'s {} rows", name_, ids.size());
      return reader.fault(pattern.place, "match: \"" + pattern.text + "\" " + why,
                          did_you_mean(pattern.text, ids));
    }
    reader.fault(pattern.place, fmt::format("match: {} {}", whole ? "the row" : "a row that this fits", why));
  }

  [[nodiscard]] FitSearch::Local default_method() const {
    return plan_.keys.size() == 1 ? FitSearch::Local::cobyla : FitSearch::Local::bobyqa;
  }

  template <class Choice>
  Choice choice(TableReader& reader, const char* key, const std::vector<std::pair<const char*, Choice>>& all,
                Choice otherwise) {
    const auto word = reader.text(key);
    if (!word) return otherwise;
    std::vector<std::string> words;
    for (const auto& [name, value] : all) {
      if (*word == name) return value;
      words.emplace_back(name);
    }
    reader.fault(place_of(reader, key),
                 std::string(key) + ": must be " + joined(words, ", ", " or ") + ", not \"" + *word + "\"");
    return otherwise;
  }

  void read_search(const Value& table, Place at) {
    using Local = FitSearch::Local;
    using Global = FitSearch::Global;
    TableReader reader(document_, table, at, "[search]", faults_);
    FitSearch& s = plan_.search;
    s.local = choice<Local>(reader, "method",
                            {{"bobyqa", Local::bobyqa}, {"cobyla", Local::cobyla}, {"sbplx", Local::sbplx}},
                            default_method());
    if (s.local == Local::bobyqa && plan_.keys.size() == 1 && faults_.empty())
      reader.fault(place_of(reader, "method"), "method: bobyqa needs two keys or more",
                   "cobyla or sbplx search one");
    s.global = choice<Global>(reader, "global",
                              {{"none", Global::none}, {"direct", Global::direct}, {"crs", Global::crs}},
                              Global::none);
    s.evaluations =
        static_cast<unsigned>(reader.number("evaluations", 1, kMostEvaluations).value_or(s.evaluations));
    const auto of_global = reader.number("global_evaluations", 1, kMostEvaluations);
    if (of_global && s.global == Global::none) {
      reader.fault(place_of(reader, "global_evaluations"), "global_evaluations: there is no global stage",
                   "global = \"direct\" or \"crs\" asks for one");
    } else if (of_global && *of_global > s.evaluations) {
      reader.fault(place_of(reader, "global_evaluations"),
                   fmt::format("global_evaluations: more than evaluations, {}", s.evaluations));
    }
    if (s.global != Global::none)
      s.global_evaluations = static_cast<unsigned>(of_global.value_or(s.evaluations / 2));
    s.seconds = reader.magnitude("seconds").value_or(0);
    if (reader.table().find("seconds") != nullptr && s.seconds == 0 && reader.sound())
      reader.fault(place_of(reader, "seconds"), "seconds: must be above 0");
    s.tolerance = reader.magnitude("tolerance").value_or(0);
    if (s.tolerance >= 1) reader.fault(place_of(reader, "tolerance"), "tolerance: must be below 1");
    const auto seed = reader.number("seed", 0, std::numeric_limits<std::uint32_t>::max());
    if (seed && s.global != Global::crs)
      reader.fault(place_of(reader, "seed"), "seed: nothing here depends on chance", "global = \"crs\" does");
    s.seed = static_cast<std::uint32_t>(seed.value_or(s.seed));
    reader.finish();
  }

  const Document& document_;
  const std::string& gpu_;
  std::string name_;
  const std::vector<MeasuredRow>& rows_;
  Diagnostics& faults_;
  std::map<std::string, std::string> entries_;   ///< literals by path; of tables, empty
  std::set<std::string> named_;                  ///< keys that stand in the file
  std::uint64_t preset_value_ = 0;               ///< of the key that was checked last
  std::map<const MeasuredRow*, FitRow> chosen_;  ///< in the order of rows_, which lie in one array
  FitPlan plan_;
};

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> FitPlan::values_of(
    const std::vector<std::uint64_t>& values) const {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    out.emplace_back(keys[k].path, values[k]);
    for (const FitFollower& f : keys[k].also) out.emplace_back(f.path, values[k] + f.plus);
  }
  return out;
}

Result<std::string> fit_gpu(const std::string& file, const std::string& text) {
  const Result<Document> parsed = Document::parse(file, text);
  if (!parsed.ok()) return parsed.faults();
  const Member* const gpu = parsed.value().root().find("gpu");
  if (gpu == nullptr) return std::string{};
  if (gpu->value.kind != Value::Kind::text)
    return parsed.value().fault(gpu->value.place, "gpu: must be a string");
  return gpu->value.text;
}

Result<FitPlan> read_fit(const std::string& file, const std::string& text, const std::string& gpu,
                         const GpuConfig& config, const std::vector<MeasuredRow>& rows) {
  const Result<Document> parsed = Document::parse(file, text);
  if (!parsed.ok()) return parsed.faults();
  Diagnostics faults;
  FitPlan plan = FitReader(parsed.value(), gpu, config, rows, faults).read();
  if (!faults.empty()) return faults;
  return plan;
}

}  // namespace warpline::study
