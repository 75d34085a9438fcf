#pragma once

#include <string>

#include "platform/cli/exit_status.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// Whether colours suit a stream: it is a terminal, and NO_COLOR is not set (no-color.org).
[[nodiscard]] bool colours_on(int file);
[[nodiscard]] bool is_terminal(int file);

// Results go to stdout, everything else to stderr. What files and arguments say is in both, so both show `?`
// where a byte would move the terminal instead of being shown (printable()).

void print_result(const std::string& text);
void print_message(const std::string& text);
/// As it is: what has colours, or moves the cursor. Pre: what came from files and arguments in it is
/// printable.
void print_coloured_result(const std::string& text);
void print_control(const std::string& text);
/// From now on results are dropped, and messages kept: another process prints the same.
void keep_silent();
/// Prints again. Returns the messages that were kept.
std::string end_silence();
/// Whether nobody reads results any more. What is left of them is dropped, for `head` is no mistake.
[[nodiscard]] bool results_unread();
/// Ends all results: the exit status of a command that would have had `status`. Results that were lost
/// otherwise than unread are bad, and said to be.
[[nodiscard]] int end_results(int status);

/// Each fault with its line and caret.
void print_faults(const Diagnostics& faults);
/// "error: ..." and, if there is one, the hint.
void print_error(const std::string& message, const std::string& hint = {});
/// The same two, of what a command cannot work with: they return kBadInput.
int bad_input(const Diagnostics& faults);
int bad_input(const std::string& message, const std::string& hint = {});

}  // namespace warpline
