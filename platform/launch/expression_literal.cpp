#include <cerrno>
#include <cstdlib>

#include "platform/launch/expression_grammar.h"

namespace warpline {
namespace {

/// No number that means anything is longer.
constexpr std::size_t kMaxDigits = 400;

ExpressionLiteral faulty(std::size_t length, std::string why) {
  ExpressionLiteral l;
  l.length = length;
  l.fault = std::move(why);
  return l;
}

}  // namespace

ExpressionLiteral read_literal(std::string_view text, DataType type) {
  const std::string digits(text.substr(0, kMaxDigits));
  ExpressionLiteral l;
  char* stop = nullptr;
  errno = 0;
  l.integer = std::strtoull(digits.c_str(), &stop, 0);
  const bool overflow = errno == ERANGE;
  const auto integer_end = static_cast<std::size_t>(stop - digits.c_str());
  l.real = std::strtod(digits.c_str(), &stop);
  const auto real_end = static_cast<std::size_t>(stop - digits.c_str());
  if (real_end == 0) return faulty(1, "expected a number");

  const bool hexadecimal = digits.size() > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const char* marks = hexadecimal ? ".pP" : ".eE";
  l.is_real = real_end > integer_end && digits.substr(0, real_end).find_first_of(marks) != std::string::npos;
  if (!l.is_real && real_end > integer_end)  // "09": the integer ends at the 9
    return faulty(real_end, "\"" + digits.substr(0, real_end) + "\" is no octal number");
  if (!l.is_real && overflow) return faulty(integer_end, "the integer does not fit 64 bits");

  bool narrow = false;
  l.length = l.is_real ? real_end : integer_end;
  while (l.length < digits.size() &&
         std::string_view("uUlLfF").find(digits[l.length]) != std::string_view::npos) {
    narrow = narrow || digits[l.length] == 'f' || digits[l.length] == 'F';
    ++l.length;
  }
  if (l.length < digits.size() &&
      (starts_name(digits[l.length]) || is_digit(digits[l.length]) || digits[l.length] == '.'))
    return faulty(l.length + 1, "malformed number");
  l.is_real = l.is_real || narrow;
  // Rounded once, from its digits: not to f64 first.
  if (narrow || type == DataType::f32) l.real = static_cast<double>(std::strtof(digits.c_str(), nullptr));
  return l;
}

}  // namespace warpline
