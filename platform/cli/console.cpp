#include "platform/cli/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace warpline {

bool is_terminal(int file) {
  return ::isatty(file) != 0;
}

bool colours_on(int file) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(file) && (no_colour == nullptr || *no_colour == '\0');
}

void print_result(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_message(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_faults(const Diagnostics& faults) {
  for (const Diagnostic& d : faults) print_message(d.text());
  if (faults.size() > 1) print_message(std::to_string(faults.size()) + " errors\n");
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
