#include "platform/programs/sass_trace/line_cursor.h"

#include <charconv>

namespace warpline::sass {
namespace {

enum class Digits { ok, wrong, overflow };

Digits read(std::string_view digits, int base, std::uint64_t& value) {
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (stop != end || error == std::errc::invalid_argument) return Digits::wrong;
  return error == std::errc{} ? Digits::ok : Digits::overflow;
}

std::string quoted(std::string_view word) {
  std::string s = "'";
  for (const char c : word.substr(0, 40)) s += c >= ' ' && c <= '~' ? c : '?';
  return s + (word.size() > 40 ? "...'" : "'");
}

}  // namespace

std::uint64_t LineCursor::explain_hex(const char* what, std::uint64_t max) {
  const std::string_view all = word(what);
  const bool prefixed = all.size() > 2 && all[0] == '0' && (all[1] == 'x' || all[1] == 'X');
  std::uint64_t value = 0;
  const Digits d = read(prefixed ? all.substr(2) : all, 16, value);
  if (d == Digits::wrong) fail(std::string("expected ") + what + " in hexadecimal, found " + quoted(all));
  if (d == Digits::overflow) fail(std::string(what) + " does not fit in 64 bits");
  if (value > max) fail(std::string(what) + " is out of range: " + quoted(all));
  return value;
}

std::uint64_t LineCursor::explain_decimal(const char* what, std::uint64_t max) {
  const std::string_view digits = word(what);
  std::uint64_t value = 0;
  const Digits d = read(digits, 10, value);
  if (d == Digits::wrong) fail(std::string("expected ") + what + " as a number, found " + quoted(digits));
  if (d == Digits::overflow || value > max)
    fail(std::string(what) + " is out of range: " + quoted(digits), "at most " + std::to_string(max));
  return value;
}

std::int64_t LineCursor::explain_signed(const char* what) {
  const std::string_view text = word(what);
  const bool negative = !text.empty() && text[0] == '-';
  std::uint64_t value = 0;
  const Digits d = read(negative ? text.substr(1) : text, 10, value);
  if (d == Digits::wrong) fail(std::string("expected ") + what + " as a number, found " + quoted(text));
  if (d == Digits::overflow || (negative && value > std::uint64_t{1} << 63U))
    fail(std::string(what) + " does not fit in 64 bits: " + quoted(text));
  return static_cast<std::int64_t>(negative ? std::uint64_t{0} - value : value);
}

unsigned LineCursor::register_number(const char* what) {
  const std::string_view text = word(what);
  std::uint64_t value = 0;
  if (text.size() < 2 || text.size() > 4 || text[0] != 'R' || read(text.substr(1), 10, value) != Digits::ok ||
      value > 255)
    fail(std::string("expected ") + what + " (R0 to R255), found " + quoted(text));
  return static_cast<unsigned>(value);
}

void LineCursor::explain_end() {
  const std::string_view extra = word("nothing");
  fail("expected the end of the line, found " + quoted(extra));
}

void LineCursor::fail(std::string message, std::string hint) const {
  const std::size_t start = start_of_last();
  throw InputError(
      fault_at(*file_, number_, start + 1, line_, std::move(message), std::move(hint), at_ - start));
}

void LineCursor::fail_line(std::string message, std::string hint) const {
  throw InputError(fault_at(*file_, number_, 0, line_, std::move(message), std::move(hint)));
}

void LineCursor::missing(const char* what) const {
  throw InputError(fault_at(*file_, number_, at_ + 1, line_,
                            std::string("the line ends where ") + what + " should stand"));
}

}  // namespace warpline::sass
