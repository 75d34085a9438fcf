#include "platform/cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "platform/programs/fault_list.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

int lost = 0;  ///< error number of the first result that stdout did not take
bool silent = false;
std::string kept;  ///< of messages, meanwhile

}  // namespace

bool is_terminal(int file) {
  return ::isatty(file) != 0;
}

bool colours_on(int file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(file) && (no_colour == nullptr || *no_colour == '\0');
}

void print_result(const std::string& text) {
  print_coloured_result(printable(text));
}

void print_coloured_result(const std::string& text) {
  if (lost != 0 || silent) return;
  errno = 0;
  const bool taken =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!taken) lost = errno != 0 ? errno : EIO;
}

void keep_silent() {
  silent = true;
}

std::string end_silence() {
  silent = false;
  return std::exchange(kept, {});
}

bool results_unread() {
  return lost == EPIPE;
}

int end_results(int status) {
  const int error = lost;
  lost = 0;
  if (error == 0 || error == EPIPE) return status;
  std::clearerr(stdout);
  print_error(std::string("standard output cannot be written: ") + std::strerror(error));
  return status == kDone ? kBadInput : status;
}

void print_message(const std::string& text) {
  print_control(printable(text));
}

void print_control(const std::string& text) {
  if (silent) {
    kept += text;
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_faults(const Diagnostics& faults) {
  std::map<std::string, std::size_t> of_file;
  for (const Diagnostic& d : faults) {
    print_message(d.text());
    ++of_file[d.file];
  }
  if (faults.size() > 1) print_message(std::to_string(faults.size()) + " errors\n");
  // Who reads a program stops at its 20th error.
  for (const auto& [file, count] : of_file)
    if (count == text::FaultList::kMost)
      print_message("of " + file + " no more than " + std::to_string(count) +
                    " errors are listed: there may be others behind them\n");
}

void print_error(const std::string& message, const std::string& hint) {
  print_message(Diagnostic::about("warpline", message, hint).text());
}

int bad_input(const Diagnostics& faults) {
  print_faults(faults);
  return kBadInput;
}

int bad_input(const std::string& message, const std::string& hint) {
  print_error(message, hint);
  return kBadInput;
}

}  // namespace warpline
