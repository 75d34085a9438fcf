#pragma once

#include <string>

#include "platform/cli/exit_status.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// Whether colours suit a stream: it is a terminal, and NO_COLOR is not set (no-color.org).
[[nodiscard]] bool colours_on(int file);
[[nodiscard]] bool is_terminal(int file);

/// Results go to stdout, everything else to stderr.
void print_result(const std::string& text);
void print_message(const std::string& text);
/// Each fault with its line and caret.
void print_faults(const Diagnostics& faults);
/// "error: ..." and, if there is one, the hint.
void print_error(const std::string& message, const std::string& hint = {});
/// The same two, of what a command cannot work with: they return kBadInput.
int bad_input(const Diagnostics& faults);
int bad_input(const std::string& message, const std::string& hint = {});

}  // namespace warpline
