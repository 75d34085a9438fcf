#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/config/parameter_broker.h"

namespace warpline {

/// A change of a configuration: `key.path=value`.
struct ParameterSetting {
  std::string text;
  std::string source;  ///< who says so, for messages
  ParameterOrigin origin = ParameterOrigin::setting;
};

/// Who has set a key last.
struct SetBy {
  ParameterOrigin origin = ParameterOrigin::built_in;
  std::string who;  ///< a file, "--set", a preset value
};

/// A configuration, and where it comes from.
struct LoadedGpu {
  GpuConfig config;
  GpuConfig defaults;                   ///< before any setting
  std::map<std::string, SetBy> set_by;  ///< by key, of those that a text has set
};

/// See load_gpu().
[[nodiscard]] Result<LoadedGpu> load_with_origins(const std::string& name_or_path,
                                                  const std::vector<ParameterSetting>& settings);
[[nodiscard]] std::vector<ParameterSetting> settings_of(const std::vector<std::string>& texts);

}  // namespace warpline
