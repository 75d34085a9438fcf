#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
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

/// "1,234,567".
[[nodiscard]] inline std::string grouped(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, ",");
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

/// "name[i]".
[[nodiscard]] inline std::string indexed(std::string_view name, std::size_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
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

/// Bytes of the UTF-8 character that `text` begins with; 0: it begins with none.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  if (text.empty() || byte(0) < 0x80) return text.size() < 1 ? 0 : 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
  for (std::size_t n = 1; n < length; ++n)
    if (byte(n) < 0x80 || byte(n) > 0xBF) return 0;
  // Longer than need be, a surrogate, or beyond the last character.
  if (byte(0) == 0xE0 && byte(1) < 0xA0) return 0;
  if (byte(0) == 0xED && byte(1) > 0x9F) return 0;
  if (byte(0) == 0xF0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

/// The number of the character that `text` begins with, of so many bytes as utf8_length() says. Pre: not 0.
[[nodiscard]] constexpr std::uint32_t utf8_code(std::string_view text, std::size_t length) {
  if (length == 1) return static_cast<unsigned char>(text[0]);
  std::uint32_t code = static_cast<unsigned char>(text[0]) & (0x7fU >> length);
  for (std::size_t n = 1; n < length; ++n) code = code << 6U | (static_cast<unsigned char>(text[n]) & 0x3fU);
  return code;
}

/// Bytes of `text` from `at` on that are one character fit to be shown: UTF-8, no control character (of
/// either set, and DEL) and none that turns the direction of writing; 0: there is none.
[[nodiscard]] inline std::size_t shown_bytes(std::string_view text, std::size_t at) {
  text.remove_prefix(at);
  const std::size_t length = utf8_length(text);
  if (length == 0) return 0;
  const std::uint32_t code = utf8_code(text, length);
  const bool controls = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                     (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return controls || turns ? 0 : length;
}

/// `text` as it may reach a terminal, whoever wrote it: with ? for each byte that is no part of a character
/// fit to be shown. Tabs and ends of lines stay.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = shown_bytes(text, at);
    const bool stays = length != 0 || text[at] == '\t' || text[at] == '\n';
    out += stays ? text.substr(at, std::max<std::size_t>(length, 1)) : std::string_view("?");
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

/// A JSON string, which a terminal may be shown as it is: what is not fit for that (shown_bytes()) is
/// escaped. JSON is UTF-8: each byte that is no part of such a character, as names of files may have, becomes
/// U+FFFD. TOML reads it as the same text.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') out += '\\';
    if (length == 0) {
      out += "\\ufffd";
    } else if (shown_bytes(text, 0) == 0) {  // none of these needs more than four digits
      out += "\\u" + hexadecimal(utf8_code(text, length), 4).substr(2);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
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
