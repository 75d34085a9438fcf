#include "rtl_models/registers/generator/text.h"

#include <algorithm>

namespace warpline::registers {
namespace {

constexpr std::size_t kColumns = 110;

}  // namespace

std::string c_comment(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool pair = !safe.empty() && ((safe.back() == '*' && c == '/') || (safe.back() == '/' && c == '*'));
    if (pair) safe += ' ';
    safe += c;
  }
  std::string out = "/*";
  std::size_t column = out.size();
  for (std::size_t at = 0; at < safe.size();) {
    const std::size_t end = std::min(safe.find(' ', at), safe.size());
    const std::string_view word = std::string_view(safe).substr(at, end - at);
    if (column + 1 + word.size() + 3 > kColumns && column > 2) {
      out += "\n  ";
      column = 2;
    }
    out.append(" ").append(word);
    column += 1 + word.size();
    at = end + 1;
  }
  return out + " */\n";
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string hex(std::uint64_t value, unsigned digits) {
  return fmt::format("0x{:0{}X}", value, digits);
}

std::string bits_text(BitField at) {
  return at.bits == 1 ? fmt::format("{}", at.low) : fmt::format("{}:{}", at.low + at.bits - 1, at.low);
}

}  // namespace warpline::registers
