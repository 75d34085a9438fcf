#include "platform/config/parameter_broker.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "platform/config/config_fields.h"
#include "platform/config/config_reference.h"
#include "platform/config/gpu_loader.h"
#include "platform/config/parameter_list.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

/// The value that a text is; null where it is none of a parameter's.
std::optional<Value> parsed_value(const std::string& json) {
  if (json.find_first_of("\n\r") != std::string::npos) return {};
  Result<Document> document = Document::parse("value", "value = " + json);
  if (!document.ok() || document.value().root().members.size() != 1) return {};
  const Value value = document.value().root().members.front().value;
  const auto is_number = [](const Value& v) { return v.kind == Value::Kind::integer; };
  switch (value.kind) {
    case Value::Kind::boolean:
    case Value::Kind::integer:
    case Value::Kind::text: return value;
    case Value::Kind::array:
      if (std::all_of(value.items.begin(), value.items.end(), is_number)) return value;
      return {};
    default: return {};
  }
}

Value value_as(const std::string& json, Value::Kind kind, const char* wanted) {
  std::optional<Value> value = parsed_value(json);
  if (!value || value->kind != kind) throw std::invalid_argument("the value is " + json + ", not " + wanted);
  return *value;
}

}  // namespace

ParameterValue::ParameterValue(const std::string& text) : json_(literal(text)) {}
ParameterValue::ParameterValue(const std::vector<std::uint64_t>& list) : json_(literal(list)) {}

ParameterValue ParameterValue::from_json(const std::string& json) {
  if (!parsed_value(json))
    throw std::invalid_argument("\"" + json +
                                "\" is no value of a parameter: 16, true, \"text\" and [1, 2] are");
  ParameterValue value(false);
  value.json_ = json;
  return value;
}

bool ParameterValue::boolean() const {
  return value_as(json_, Value::Kind::boolean, "true or false").boolean;
}
std::uint64_t ParameterValue::number() const {
  const std::optional<std::uint64_t> number = number_with_prefix<std::uint64_t>(json_);
  if (!number) throw std::invalid_argument("the value is " + json_ + ", not a whole number from 0 on");
  return *number;
}
std::string ParameterValue::text() const {
  return value_as(json_, Value::Kind::text, "a string").text;
}
std::vector<std::uint64_t> ParameterValue::list() const {
  std::vector<std::uint64_t> list;
  const std::invalid_argument unfit("the value is " + json_ + ", not an array of whole numbers from 0 on");
  if (json_.size() < 2 || json_.front() != '[' || json_.back() != ']') throw unfit;
  const std::string_view items = trimmed(std::string_view(json_).substr(1, json_.size() - 2));
  if (items.empty()) return list;
  for (const std::string_view item : split(items, ',')) {
    const std::optional<std::uint64_t> number = number_with_prefix<std::uint64_t>(trimmed(item));
    if (!number) throw unfit;
    list.push_back(*number);
  }
  return list;
}

struct ParameterBroker::State {
  struct Preset {
    ParameterValue value;
    std::string originator;
    bool locked = false;
    bool consumed = false;
  };
  struct Module {
    std::string name;
    std::vector<Parameter> parameters;
  };
  [[nodiscard]] const Module* module_of(const std::string& path) const {
    for (const Module& m : modules)
      if (path.rfind(m.name + ".", 0) == 0) return &m;
    return nullptr;
  }

  mutable std::mutex mutex;
  std::map<std::string, Preset> presets;
  std::vector<std::string> ignored;
  std::vector<Module> modules;  ///< in the order in which they were made
};

ParameterBroker::ParameterBroker() : state_(std::make_unique<State>()) {}
ParameterBroker::~ParameterBroker() = default;

ParameterBroker& ParameterBroker::global() {
  static ParameterBroker broker;
  return broker;
}

void ParameterBroker::set_preset_value(const std::string& path, const ParameterValue& value,
                                       const std::string& originator) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (const State::Module* m = state_->module_of(path); m != nullptr)
    throw std::logic_error(path + ": too late: \"" + m->name +
                           "\" has been made, and read its configuration then");
  const auto found = state_->presets.find(path);
  if (found != state_->presets.end() && found->second.locked)
    throw std::logic_error(path + ": the preset value is locked, at " + found->second.value.json());
  state_->presets.insert_or_assign(path, State::Preset{value, originator});
}

std::optional<ParameterValue> ParameterBroker::preset_value(const std::string& path) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->presets.find(path);
  if (found == state_->presets.end()) return {};
  return found->second.value;
}

void ParameterBroker::lock_preset_value(const std::string& path) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->presets.find(path);
  if (found == state_->presets.end())
    throw std::logic_error(path + ": there is no preset value to be locked");
  found->second.locked = true;
}

std::vector<std::string> ParameterBroker::unconsumed_preset_values() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<std::string> paths;
  for (const auto& [path, preset] : state_->presets) {
    const auto fits = [&path = path](const std::string& pattern) { return glob_matches(pattern, path); };
    if (!preset.consumed && std::none_of(state_->ignored.begin(), state_->ignored.end(), fits))
      paths.push_back(path);
  }
  return paths;
}

void ParameterBroker::ignore_unconsumed_preset_values(const std::string& pattern) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->ignored.push_back(pattern);
}

std::optional<Parameter> ParameterBroker::parameter(const std::string& path) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  for (const State::Module& m : state_->modules)
    for (const Parameter& p : m.parameters)
      if (p.path == path) return p;
  return {};
}

std::vector<Parameter> ParameterBroker::parameters(const std::string& pattern) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<Parameter> fitting;
  for (const State::Module& m : state_->modules)
    for (const Parameter& p : m.parameters)
      if (glob_matches(pattern, p.path)) fitting.push_back(p);
  return fitting;
}

std::vector<std::string> ParameterBroker::rules(const Parameter& parameter) const {
  static const std::map<std::string, std::vector<std::string>> kAll = config_rules();
  const auto found = kAll.find("gpu." + parameter.key);
  return found == kAll.end() ? std::vector<std::string>{} : found->second;
}

std::vector<ParameterSetting> ParameterBroker::consume(const std::string& module) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<ParameterSetting> settings;
  const std::string prefix = module + ".";
  for (auto& [path, preset] : state_->presets) {
    if (path.rfind(prefix, 0) != 0) continue;
    preset.consumed = true;
    settings.push_back({path.substr(prefix.size()) + " = " + preset.value.json(),
                        preset.originator.empty() ? "preset value of " + path : preset.originator,
                        ParameterOrigin::broker});
  }
  return settings;
}

void ParameterBroker::publish(const std::string& module, std::vector<Parameter> parameters) {
  withdraw(module);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->modules.push_back({module, std::move(parameters)});
}

void ParameterBroker::withdraw(const std::string& module) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  auto& modules = state_->modules;
  const auto is_it = [&module](const State::Module& m) { return m.name == module; };
  modules.erase(std::remove_if(modules.begin(), modules.end(), is_it), modules.end());
}

Result<GpuConfig> ParameterBroker::load_gpu(const std::string& module, const std::string& name_or_path,
                                            const std::vector<std::string>& settings) {
  std::vector<ParameterSetting> all = settings_of(settings);
  for (ParameterSetting& preset : consume(module)) all.push_back(std::move(preset));
  Result<LoadedGpu> loaded = load_with_origins(name_or_path, all);
  if (!loaded.ok()) return loaded.faults();
  publish(module, parameters_of(module, config_entries(loaded.value().defaults),
                                config_entries(loaded.value().config), loaded.value().set_by));
  return std::move(loaded.value().config);
}

std::vector<Parameter> parameters_of(const std::string& module, const std::vector<ConfigEntry>& defaults,
                                     const std::vector<ConfigEntry>& values,
                                     const std::map<std::string, SetBy>& set_by,
                                     const std::string& documented_in) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].value.empty()) continue;  // a table
    const std::string path = values[i].path();
    const auto found = set_by.find(path);
    const SetBy by = found == set_by.end() ? SetBy{} : found->second;
    Parameter& p = parameters.emplace_back(
        Parameter{module + "." + path, documented_in + path, values[i].meaning, 0, 0, by.origin, by.who});
    p.value.json_ = values[i].value;
    p.default_value.json_ = defaults[i].value;
  }
  return parameters;
}

}  // namespace warpline
