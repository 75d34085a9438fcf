#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

struct ConfigEntry;
struct Parameter;
struct ParameterSetting;
struct SetBy;

/// A parameter's value as JSON: a whole number, true or false, a string, or an array of whole numbers.
class WARPLINE_PUBLIC ParameterValue {
 public:
  // A bool is no parameter's value unless it is one: neither 2.5 nor a pointer is true.
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  ParameterValue(T value) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>) {
      json_ = value ? "true" : "false";
    } else {
      json_ = std::to_string(value);
    }
  }
  ParameterValue(const std::string& text);  // NOLINT(google-explicit-constructor)
  ParameterValue(const char* text)
      : ParameterValue(std::string(text)) {}               // NOLINT(google-explicit-constructor)
  ParameterValue(const std::vector<std::uint64_t>& list);  // NOLINT(google-explicit-constructor)
  /// Throws std::invalid_argument where the text is none of these.
  [[nodiscard]] static ParameterValue from_json(const std::string& json);

  [[nodiscard]] const std::string& json() const { return json_; }
  /// The value as what it is; throw std::invalid_argument where it is something else.
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<std::uint64_t> list() const;

  friend bool operator==(const ParameterValue& a, const ParameterValue& b) { return a.json_ == b.json_; }
  friend bool operator!=(const ParameterValue& a, const ParameterValue& b) { return a.json_ != b.json_; }

 private:
  friend std::vector<Parameter> parameters_of(const std::string&, const std::vector<ConfigEntry>&,
                                              const std::vector<ConfigEntry>&,
                                              const std::map<std::string, SetBy>&, const std::string&);
  std::string json_;
};

/// Whose word a parameter's value is.
enum class ParameterOrigin : std::uint8_t {
  built_in,  ///< the GPU preset's, or what a key is where nobody says
  file,      ///< a GPU file's
  setting,   ///< of the code that made the module
  broker,    ///< a preset value's
};

/// A parameter of a module that has been made.
struct WARPLINE_PUBLIC Parameter {
  std::string path;         ///< "card.l2.slices": the module's name and the key
  std::string key;          ///< as docs/configuration.md has it
  std::string description;  ///< meaning and unit
  ParameterValue value;
  ParameterValue default_value;  ///< where no setting and no preset value says another
  ParameterOrigin origin = ParameterOrigin::built_in;
  std::string set_by;  ///< a file, "--set", the originator of a preset value; empty: nobody
};

/// Every configuration key of every module under its path, after the ideas of SystemC CCI: a platform reads
/// them, and gives preset values to modules that are yet to be made, whoever makes them.
///
///     ParameterBroker& broker = ParameterBroker::global();
///     broker.set_preset_value("top.card.l2.slices", 4);
///     ...                                          // makes sc_module "top", which makes "card" within
///     broker.parameter("top.card.l2.slices")->value.number();  // 4
///     broker.unconsumed_preset_values();           // none
///
/// A path is the hierarchical name of a MemorySubsystemModule, GpuSystemModule or PcieSystemModule, or the
/// name given to load_gpu() below, a dot, and a key. Modules read their configuration when they are made, and
/// once: a preset value wins over presets, files and settings then, and is checked like them; afterwards
/// parameters do not change. One module's mistakes are its std::invalid_argument, all at once. What no module
/// has read when a simulation starts is a SystemC warning, with the paths.
///
/// Callable from any thread.
class WARPLINE_PUBLIC ParameterBroker {
 public:
  ParameterBroker();
  ~ParameterBroker();
  /// The one that modules read.
  [[nodiscard]] static ParameterBroker& global();

  /// Before the module of that name is made. `originator`: who says so, for messages and Parameter::set_by.
  /// Throws std::logic_error where the module has been made, or the value is locked.
  void set_preset_value(const std::string& path, const ParameterValue& value,
                        const std::string& originator = {});
  [[nodiscard]] std::optional<ParameterValue> preset_value(const std::string& path) const;
  [[nodiscard]] bool has_preset_value(const std::string& path) const {
    return preset_value(path).has_value();
  }
  /// What has been set stays. Throws std::logic_error where nothing has.
  void lock_preset_value(const std::string& path);
  /// Paths of those that no module has read, in alphabetical order, but for those to be ignored.
  [[nodiscard]] std::vector<std::string> unconsumed_preset_values() const;
  /// `pattern`: `*` stands for any characters, `?` for one.
  void ignore_unconsumed_preset_values(const std::string& pattern);

  /// A parameter of a module that has been made.
  [[nodiscard]] std::optional<Parameter> parameter(const std::string& path) const;
  /// Those whose paths fit a pattern, module by module, in the order of docs/configuration.md.
  [[nodiscard]] std::vector<Parameter> parameters(const std::string& pattern = "*") const;
  /// The rules that values of a parameter must obey; empty where there are none.
  [[nodiscard]] std::vector<std::string> rules(const Parameter& parameter) const;

  /// As the free load_gpu(), with the preset values for `module`, whose parameters it then has: for a
  /// GpuPlatform of one's own.
  [[nodiscard]] Result<GpuConfig> load_gpu(const std::string& module, const std::string& name_or_path,
                                           const std::vector<std::string>& settings = {});

  /// For modules that read a configuration themselves: its preset values, which count as read; then, once the
  /// module is made, its parameters, until it is withdrawn.
  [[nodiscard]] std::vector<ParameterSetting> consume(const std::string& module);
  void publish(const std::string& module, std::vector<Parameter> parameters);
  void withdraw(const std::string& module);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpline
