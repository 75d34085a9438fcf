#pragma once

#include <string>
#include <vector>

#include "platform/cli/run_command.h"

namespace warpline {

/// Whether hops can be opened as pins with this transport; says so if not.
[[nodiscard]] bool pins_fit(const std::string& transport, const std::vector<std::string>& pins);

/// Judges the options of `run` together: what each forbids the others. `window`: --window as written, which
/// is read into the request; null where it is not given. Says what is wrong, and returns kBadInput; else
/// kDone.
[[nodiscard]] int check_request(RunRequest& request, const std::string* window);

}  // namespace warpline
