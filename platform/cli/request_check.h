#pragma once

#include <string>
#include <vector>

#include "platform/cli/run_request.h"

namespace warpline {

/// Whether `word` is one of those that `option` takes; says so if not.
[[nodiscard]] bool is_one_of(const char* option, const std::string& word,
                             const std::vector<std::string>& known);
/// Whether a transport's runs have cycles that mean something.
[[nodiscard]] bool is_timed(const std::string& transport);
/// Whether hops can be opened as pins with this transport; says so if not.
[[nodiscard]] bool pins_fit(const std::string& transport, const std::vector<std::string>& pins);
/// Whether what `option` shows ("--metrics", "--energy", "--roofline") can be told of runs with this
/// transport; says so if not.
[[nodiscard]] bool metrics_fit(const std::string& option, const std::string& transport);

/// Reads "FIRST:LAST" of --window. Says what is wrong, and returns kBadInput; else kDone.
[[nodiscard]] int read_window(const std::string& text, Window& window);

/// Judges the options of `run` together, what each forbids the others, and reads the window. Says what is
/// wrong, and returns kBadInput; else kDone.
[[nodiscard]] int check_request(RunRequest& request);

}  // namespace warpline
