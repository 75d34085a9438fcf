#include "platform/sweep/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kMostSteps = 1'000'000;  ///< of an axis
constexpr std::size_t kMostPointsAsked = 10'000'000;

class StudyReader {
 public:
  StudyReader(const Document& document, Study& study, Diagnostics& faults)
      : document_(document),
        study_(study),
        faults_(faults),
        keys_(config_keys()),
        names_(condition_names()) {}

  void read() {
    TableReader top(document_, document_.root(), {}, "the study", faults_);
    study_.name = top.text("name").value_or(std::filesystem::path(study_.file).stem().string());
    for (const Value* v : texts(top, "gpus", TableReader::required)) read_gpu(top, *v);
    read_design(top);
    study_.limit_s = top.magnitude("time_limit_s");
    if (study_.limit_s == 0.0)
      top.fault(top.find("time_limit_s")->value.place, "time_limit_s: must be above 0");
    study_.instances = top.boolean("instances").value_or(true);
    for (const Value* v : texts(top, "metrics")) study_.metrics.push_back(v->text);
    if (const Member* keys = table(top, "keys"))
      for (const Member& m : keys->value.members) read_key(top, m);
    for (const Value* v : tables(top, "linked")) read_linked(*v);
    for (const Value* v : texts(top, "require")) read_condition(*v, study_.require);
    for (const Value* v : texts(top, "exclude")) read_condition(*v, study_.exclude);
    for (const Value* v : tables(top, "workload")) read_workload(*v);
    read_observations(top);
    if (study_.workloads.empty() && top.sound())
      top.fault(top.place(), "there is no [[workload]]",
                "a [[workload]] says what runs: run = \"vecadd.toml\"");
    top.finish();
  }

 private:
  /// The texts of a list, or one alone.
  std::vector<const Value*> texts(TableReader& reader, const char* key,
                                  TableReader::Need need = TableReader::optional) {
    const Member* const m = reader.find(key, need);
    std::vector<const Value*> out;
    if (m == nullptr) return out;
    if (m->value.kind == Value::Kind::text && !m->value.text.empty()) return {&m->value};
    if (m->value.kind != Value::Kind::array) {
      reader.fault(m->value.place, fmt::format("{}: must be a string or a list of strings", key));
      return out;
    }
    for (const Value& v : m->value.items) {
      if (v.kind == Value::Kind::text && !v.text.empty()) {
        out.push_back(&v);
      } else {
        reader.fault(v.place, fmt::format("{}: must be a list of strings, none of them empty", key));
      }
    }
    if (m->value.items.empty()) reader.fault(m->value.place, fmt::format("{}: is empty", key));
    return out;
  }
  const Member* table(TableReader& reader, const char* key) {
    const Member* const m = reader.find(key);
    if (m == nullptr || m->value.kind == Value::Kind::table) return m;
    reader.fault(m->value.place, fmt::format("{}: must be a table", key));
    return nullptr;
  }
  std::vector<const Value*> tables(TableReader& reader, const char* key) {
    const Member* const m = reader.find(key);
    std::vector<const Value*> out;
    if (m == nullptr) return out;
    const bool fits = m->value.kind == Value::Kind::array &&
                      std::all_of(m->value.items.begin(), m->value.items.end(),
                                  [](const Value& v) { return v.kind == Value::Kind::table; });
    if (!fits) {
      reader.fault(m->value.place, fmt::format("{}: must be tables, each begun by [[{}]]", key, key));
      return out;
    }
    for (const Value& v : m->value.items) out.push_back(&v);
    return out;
  }
  /// A file of the study: as seen from its folder.
  [[nodiscard]] std::string beside(const std::string& path) const {
    std::error_code unknown;
    const std::filesystem::path file = std::filesystem::absolute(study_.file, unknown);
    return resolve_beside(unknown ? study_.file : file.string(), path);
  }
  void read_gpu(TableReader& reader, const Value& v) {
    const std::vector<std::string> presets = preset_names();
    const bool is_preset =
        std::find(presets.begin(), presets.end(), whole_preset_name(v.text)) != presets.end();
    const std::string gpu = is_preset ? v.text : beside(v.text);
    std::error_code unknown;
    if (!is_preset && !std::filesystem::exists(gpu, unknown)) {
      reader.fault(v.place, fmt::format("gpus: there is neither a preset nor a file \"{}\"", v.text),
                   did_you_mean(v.text, presets));
    } else if (std::find(study_.gpus.begin(), study_.gpus.end(), gpu) != study_.gpus.end()) {
      reader.fault(v.place, fmt::format("gpus: \"{}\" stands there twice", v.text));
    } else {
      study_.gpus.push_back(gpu);
    }
  }
  void read_design(TableReader& reader) {
    const std::string name = reader.text("design").value_or("grid");
    const Member* const at = reader.find("design");
    if (name == "latin") {
      study_.design = Design::latin;
    } else if (name == "one-at-a-time") {
      study_.design = Design::one_at_a_time;
    } else if (name != "grid") {
      reader.fault(at->value.place, "design: must be grid, latin or one-at-a-time",
                   did_you_mean(name, {"grid", "latin", "one-at-a-time"}));
    }
    const bool latin = study_.design == Design::latin;
    for (const char* key : {"points", "seed"})
      if (const Member* m = reader.find(key); m != nullptr && !latin)
        reader.fault(m->place, fmt::format("{}: belongs to design = \"latin\"", key));
    if (!latin) return;
    study_.points = reader.number("points", 1, kMostPointsAsked, TableReader::required).value_or(1);
    study_.seed = reader.number("seed", 0, INT64_MAX).value_or(1);
  }
  /// What is kept of each run beside its counters.
  void read_observations(TableReader& reader) {
    study_.profile = reader.boolean("profile").value_or(false);
    study_.sample = reader.number("sample", 1, INT64_MAX);
    for (const Value* v : texts(reader, "figures")) study_.figures.push_back(v->text);
    const Member* const sample = reader.find("sample");
    if (const Member* figures = reader.find("figures"); figures != nullptr && sample == nullptr)
      reader.fault(figures->place,
                   "figures: are kept of every so many cycles, and sample does not say of how many",
                   "sample = 1000");
    // Each process writes into files of its own then, and no run has one.
    const Member* const observed = study_.profile ? reader.find("profile") : sample;
    for (const Workload& w : study_.workloads)
      if (const auto& words = w.options; observed != nullptr && w.program &&
                                         std::find(words.begin(), words.end(), "--children") != words.end())
        reader.fault(observed->place,
                     fmt::format("{}: is kept of one process, and {} has the option --children",
                                 observed->key, w.name),
                     "leave out --children, or have it in a study of its own");
  }
  /// A value as --set takes it; nothing where it can be none.
  std::optional<std::string> setting(const Value& v) const {
    switch (v.kind) {
      case Value::Kind::boolean: return v.boolean ? "true" : "false";
      case Value::Kind::integer: return std::to_string(v.integer);
      case Value::Kind::real: return fmt::format("{}", v.real);
      case Value::Kind::text: return json_string(v.text);  // with its quotes, as TOML has it
      case Value::Kind::array: {
        std::vector<std::string> items;
        for (const Value& item : v.items) {
          if (item.kind != Value::Kind::integer) return std::nullopt;
          items.push_back(std::to_string(item.integer));
        }
        return "[" + joined(items) + "]";
      }
      default: return std::nullopt;
    }
  }
  bool take_key(TableReader& reader, const std::string& key, Place place) {
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) {
      reader.fault(place, fmt::format("there is no key \"{}\"", key), did_you_mean(key, keys_));
      return false;
    }
    if (!varied_.insert(key).second) reader.fault(place, fmt::format("\"{}\" is varied twice", key));
    return true;
  }
  void add_step(TableReader& reader, Axis& axis, std::vector<std::string> step, Place place) {
    if (std::find(axis.steps.begin(), axis.steps.end(), step) != axis.steps.end()) {
      reader.fault(place, fmt::format("{} stands there twice", joined(step)));
    } else {
      axis.steps.push_back(std::move(step));
    }
  }
  /// [keys]: "l2.slices" = [2, 4], or dotted, which TOML reads as tables.
  void read_key(TableReader& reader, const Member& m, const std::string& table = {}) {
    const std::string key = table.empty() ? m.key : table + "." + m.key;
    const Value& v = m.value;
    const bool is_range =
        v.kind == Value::Kind::table && (v.find("from") != nullptr || v.find("to") != nullptr);
    if (v.kind == Value::Kind::table && !is_range) {
      if (v.members.empty()) reader.fault(m.place, key + ": is empty");
      for (const Member& inner : v.members) read_key(reader, inner, key);
      return;
    }
    if (!take_key(reader, key, m.place)) return;
    Axis axis;
    axis.keys = {key};
    if (is_range) {
      read_range(v, m.place, axis);
    } else if (v.kind == Value::Kind::array) {
      for (const Value& item : v.items) {
        const auto text = setting(item);
        if (text) {
          add_step(reader, axis, {*text}, item.place);
        } else {
          reader.fault(item.place, key + ": a key cannot be " + std::string(item.kind_name()));
        }
      }
      if (v.items.empty()) reader.fault(v.place, key + ": is empty");
    } else if (const auto text = setting(v)) {
      axis.steps.push_back({*text});
    } else {
      reader.fault(v.place, key + ": must be a value, a list of values, or a range",
                   key + " = {from = 1, to = 8, factor = 2}");
    }
    if (!axis.steps.empty()) study_.axes.push_back(std::move(axis));
  }
  void read_range(const Value& v, Place place, Axis& axis) {
    TableReader range(document_, v, place, axis.keys[0], faults_);
    const auto from = range.magnitude("from", TableReader::required);
    const auto to = range.magnitude("to", TableReader::required);
    const auto step = range.magnitude("step"), factor = range.magnitude("factor");
    range.finish();
    if (!range.sound()) return;
    if (step.has_value() == factor.has_value()) {
      range.fault(place, axis.keys[0] + ": a range has a step or a factor",
                  "{from = 16, to = 64, step = 16}");
      return;
    }
    if (*to < *from || (step && *step <= 0) || (factor && (*factor <= 1 || *from <= 0))) {
      range.fault(place, axis.keys[0] + ": a range goes up, from above 0 where it has a factor above 1");
      return;
    }
    const auto whole = [&v](const char* key) {
      return v.find(key) == nullptr || v.find(key)->value.kind == Value::Kind::integer;
    };
    const bool integers = whole("from") && whole("step") && whole("factor");
    // What is reached but for rounding is reached.
    const double end = *to * (1 + 1e-12);
    for (std::size_t n = 0;; ++n) {
      const double at =
          step ? *from + static_cast<double>(n) * *step : *from * std::pow(*factor, static_cast<double>(n));
      if (at > end) break;
      if (n == kMostSteps) {
        range.fault(place, fmt::format("{}: has more than {} steps", axis.keys[0], kMostSteps));
        break;
      }
      axis.steps.push_back({integers ? fmt::format("{:.0f}", at) : fmt::format("{}", at)});
    }
  }
  void read_linked(const Value& v) {
    TableReader reader(document_, v, v.place, "[[linked]]", faults_);
    Axis axis;
    for (const Value* key : texts(reader, "keys", TableReader::required))
      if (take_key(reader, key->text, key->place)) axis.keys.push_back(key->text);
    const Member* const values = reader.find("values", TableReader::required);
    reader.finish();
    if (!reader.sound() || values == nullptr) return;
    if (values->value.kind != Value::Kind::array || values->value.items.empty()) {
      reader.fault(values->value.place, "values: must be a list with a list for each step");
      return;
    }
    for (const Value& row : values->value.items) {
      std::vector<std::string> step;
      if (row.kind == Value::Kind::array)
        for (const Value& item : row.items)
          if (const auto text = setting(item)) step.push_back(*text);
      if (step.size() != axis.keys.size() || row.items.size() != axis.keys.size()) {
        reader.fault(row.place,
                     fmt::format("values: a step has a value for each of the {} keys", axis.keys.size()));
        return;
      }
      add_step(reader, axis, std::move(step), row.place);
    }
    study_.axes.push_back(std::move(axis));
  }
  void read_condition(const Value& v, std::vector<Condition>& conditions) {
    conditions.emplace_back(ExpressionText::in(document_, v.place, v.text, names_), faults_);
  }
  void read_workload(const Value& v) {
    TableReader reader(document_, v, v.place, "[[workload]]", faults_);
    Workload w;
    const std::vector<const Value*> run = texts(reader, "run"), program = texts(reader, "exec");
    if (run.empty() == program.empty() && reader.sound())
      reader.fault(
          v.place,
          "[[workload]]: has run, the inputs of `warpline run`, or exec, a program and its arguments");
    w.program = run.empty();
    for (const Value* word : run) w.words.push_back(beside(word->text));
    for (std::size_t n = 0; n < program.size(); ++n)
      w.words.push_back(n == 0 ? beside(program[n]->text) : program[n]->text);
    for (std::size_t n = 0; n < w.words.size() && (!w.program || n == 0); ++n)
      if (std::error_code unknown; !std::filesystem::exists(w.words[n], unknown))
        reader.fault((w.program ? program : run)[n]->place, fmt::format("there is no file {}", w.words[n]));
    if (reader.find("options") != nullptr)
      for (const Value* option : texts(reader, "options")) {
        const std::string word = option->text.substr(0, option->text.find('='));
        if (own_option(word) != nullptr)
          reader.fault(option->place, fmt::format("options: {} is said by the study", word),
                       word == "--set" || word == "--gpu" ? "keys stand in [keys], GPUs in gpus" : "");
        w.options.push_back(option->text);
      }
    if (const auto name = reader.text("name")) {
      w.name = *name;
    } else if (!w.words.empty()) {
      w.name = std::filesystem::path(w.words[0]).stem().string();
    }
    const auto same = [&w](const Workload& other) { return other.name == w.name; };
    if (std::any_of(study_.workloads.begin(), study_.workloads.end(), same))
      reader.fault(v.place, fmt::format("[[workload]]: another one is called \"{}\"", w.name),
                   "name = \"...\"");
    reader.finish();
    study_.workloads.push_back(std::move(w));
  }

  const Document& document_;
  Study& study_;
  Diagnostics& faults_;
  std::vector<std::string> keys_, names_;
  std::set<std::string> varied_;
};

}  // namespace

const OwnOption* own_option(const std::string& word) {
  static const OwnOption kOwn[] = {
      {"--gpu", true},      {"--set", true},     {"--stats", true},   {"--stats-counters", true},
      {"--report", true},   {"--live", true},    {"--profile", true}, {"--series", true},
      {"--sample", true},   {"--figures", true}, {"--paused", false}, {"--quiet", false},
      {"--verbose", false}, {"--help", false},   {"-h", false}};
  const auto* const found =
      std::find_if(std::begin(kOwn), std::end(kOwn), [&word](const OwnOption& o) { return word == o.name; });
  return found == std::end(kOwn) ? nullptr : found;
}

std::vector<std::string> condition_names() {
  std::vector<std::string> names = config_keys();
  names.emplace_back("gpu");
  names.emplace_back("workload");
  return names;
}

Result<Study> read_study(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text.ok()) return text.faults();
  Result<Document> parsed = Document::parse(path, text.value());
  if (!parsed.ok()) return parsed.faults();
  Study study;
  study.file = path;
  study.text = text.value();
  Diagnostics faults;
  StudyReader(parsed.value(), study, faults).read();
  if (!faults.empty()) return faults;
  return study;
}

}  // namespace warpline::sweep
