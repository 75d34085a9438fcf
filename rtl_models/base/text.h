#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace warpline {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Without the blanks, tabs and ends of lines at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhite);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(kWhite) + 1 - first);
}

/// C++20's ends_with.
[[nodiscard]] constexpr bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// With A to Z for a to z.
[[nodiscard]] inline std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

/// What lies between separators: one part more than there are separators.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

/// "a, b or c", for `last` = " or ".
template <class Texts>
[[nodiscard]] std::string joined(const Texts& texts, std::string_view between, std::string_view last) {
  std::string out;
  for (auto t = texts.begin(); t != texts.end(); ++t) {
    if (t != texts.begin()) out += std::next(t) == texts.end() ? last : between;
    out += *t;
  }
  return out;
}
template <class Texts>
[[nodiscard]] std::string joined(const Texts& texts, std::string_view between = ", ") {
  return joined(texts, between, between);
}

/// The member `name` of each of `all`.
template <class All>
[[nodiscard]] std::vector<std::string> names_of(const All& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.emplace_back(one.name);
  return names;
}

/// "1 request", "2 requests".
[[nodiscard]] inline std::string counted(std::uint64_t n, std::string_view noun) {
  return std::to_string(n).append(" ").append(noun).append(n == 1 ? "" : "s");
}

/// "0x1f", with zeros before it up to `digits` digits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t value, unsigned digits = 1) {
  std::string out = "0x";
  unsigned n = 16;
  while (n > digits && n > 1 && value >> (4 * n - 4) == 0) --n;
  while (n-- != 0) out += "0123456789abcdef"[value >> 4 * n & 15U];
  return out;
}

/// A JSON string.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u" + hexadecimal(static_cast<unsigned char>(c), 4).substr(2);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// The integer that is all of `text`, to a base of 10 or 16 without a prefix; nothing where it is none, or
/// does not fit T.
template <class T>
[[nodiscard]] std::optional<T> number_from(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end ? std::optional<T>(value) : std::nullopt;
}
/// The same of "12" or "0x1f".
template <class T>
[[nodiscard]] std::optional<T> number_with_prefix(std::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  return hex ? number_from<T>(text.substr(2), 16) : number_from<T>(text);
}

}  // namespace warpline
