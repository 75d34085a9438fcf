#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/config/gpu_loader.h"
#include "platform/config/parameter_broker.h"

namespace warpline {

/// The parameters of a module from its configuration's entries before and after settings.
/// `documented_in`: the table of a GPU file in which keys of that name are.
[[nodiscard]] std::vector<Parameter> parameters_of(const std::string& module,
                                                   const std::vector<ConfigEntry>& defaults,
                                                   const std::vector<ConfigEntry>& values,
                                                   const std::map<std::string, SetBy>& set_by,
                                                   const std::string& documented_in = {});

}  // namespace warpline
