#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "platform/programs/sass_trace/line_reader.h"

namespace warpline::sass {

/// The value of each character as a hexadecimal digit; 16: it is none.
inline constexpr std::array<std::uint8_t, 256> kHexDigits = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::uint8_t& digit : table) digit = 16;
  for (unsigned d = 0; d < 10; ++d) table['0' + d] = static_cast<std::uint8_t>(d);
  for (unsigned d = 10; d < 16; ++d) table['a' + d - 10] = table['A' + d - 10] = static_cast<std::uint8_t>(d);
  return table;
}();

/// Whether the 8 characters at `text` are hexadecimal digits; then `value` becomes what they say. All are
/// looked at in one word, a byte each, the first one lowest.
inline bool eight_hex_digits(const char* text, std::uint64_t& value) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::uint64_t c = 0;
  std::memcpy(&c, text, sizeof c);
  const std::uint64_t letter = c >> 6U & kEach;
  const std::uint64_t digit = (c & 0x0F * kEach) + 9 * letter;  // if it is one
  const std::uint64_t above_9 = (digit + 0x76 * kEach) >> 7U & kEach;
  const std::uint64_t written = digit + '0' * kEach + ('a' - '9' - 1) * above_9;
  if ((c | letter << 5U) != written || (digit & 0x10 * kEach) != 0) return false;
  const std::uint64_t twos = (digit << 4U | digit >> 8U) & 0x00FF00FF00FF00FF;
  const std::uint64_t fours = (twos << 8U | twos >> 16U) & 0x0000FFFF0000FFFF;
  value = (fours << 16U | fours >> 32U) & 0xFFFFFFFF;
  return true;
}

/// The same of `count` characters, 1 to 16.
inline bool hex_digits(const char* text, std::size_t count, std::uint64_t& value) {
  if (count >= 8) {
    std::uint64_t first = 0, last = 0;
    if (!eight_hex_digits(text, first) || !eight_hex_digits(text + count - 8, last)) return false;
    value = first << 4 * (count - 8) | last;  // where they overlap, they say the same
    return true;
  }
  value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned digit = kHexDigits[static_cast<unsigned char>(text[i])];
    if (digit > 15) return false;
    value = value << 4U | digit;
  }
  return true;
}

/// Whether `line` is `before`, a number of 1 to 16 hexadecimal digits, and `behind`; then `value` becomes
/// what the digits say.
inline bool is_hex_between(std::string_view line, std::string_view before, std::string_view behind,
                           std::uint64_t& value) {
  const std::size_t digits = line.size() - before.size() - behind.size();
  const char* const first = line.data() + before.size();
  return digits - 1 < 16 && std::memcmp(line.data(), before.data(), before.size()) == 0 &&
         std::memcmp(first + digits, behind.data(), behind.size()) == 0 && hex_digits(first, digits, value);
}

/// The words of one line, each checked as it is taken. A fault throws InputError with the place.
class LineCursor {
 public:
  LineCursor(const std::string& file, unsigned number, std::string_view line)
      : file_(&file), number_(number), line_(line) {}

  /// Whether only blanks are left.
  [[nodiscard]] bool done() {
    skip_blanks();
    return at_ == line_.size();
  }
  /// The next word; `what` names it if there is none ("an opcode").
  std::string_view word(const char* what) {
    skip_blanks();
    last_ = at_;
    while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t') ++at_;
    if (at_ == last_) missing(what);
    return line_.substr(last_, at_ - last_);
  }
  /// Takes `text`, some words with the blanks between them, if it is next and a word ends with it.
  bool take(std::string_view text) {
    skip_blanks();
    if (line_.size() - at_ < text.size() || std::memcmp(line_.data() + at_, text.data(), text.size()) != 0)
      return false;
    if (!ends_word(at_ + text.size())) return false;
    at_ += text.size();
    last_ = kSought;
    return true;
  }
  /// Hexadecimal digits, with or without `0x`, of at most `max`.
  std::uint64_t hex(const char* what, std::uint64_t max) {
    skip_blanks();
    const char* const end = line_.data() + line_.size();
    const char* at = line_.data() + at_;
    if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') at += 2;
    const char* const from = at;
    std::uint64_t value = 0;
    if (end - at >= 8 && eight_hex_digits(at, value)) at += 8;
    for (; at != end; ++at) {
      const unsigned digit = kHexDigits[static_cast<unsigned char>(*at)];
      if (digit > 15) break;
      value = value << 4U | digit;
    }
    if (at == from || at - from > 16 || (at != end && !is_blank(*at)) || value > max)
      return explain_hex(what, max);
    last_ = at_;
    at_ = static_cast<std::size_t>(at - line_.data());
    return value;
  }
  /// Decimal digits of at most `max`.
  std::uint64_t decimal(const char* what, std::uint64_t max) {
    skip_blanks();
    std::uint64_t value = 0;
    const std::size_t at = digits(at_, value);
    if (at == at_ || value > max) return explain_decimal(what, max);
    last_ = at_;
    at_ = at;
    return value;
  }
  /// Decimal digits with an optional sign. Values from 2^63 to 2^64-1 are taken as their two's complement.
  std::int64_t signed_decimal(const char* what) {
    skip_blanks();
    const std::size_t from = at_ + (at_ < line_.size() && line_[at_] == '-' ? 1 : 0);
    std::uint64_t value = 0;
    const std::size_t at = digits(from, value);
    if (at == from) return explain_signed(what);
    const bool negative = from != at_;
    last_ = at_;
    at_ = at;
    return static_cast<std::int64_t>(negative ? std::uint64_t{0} - value : value);
  }
  /// `R0` to `R255`.
  unsigned register_number(const char* what);
  /// Throws unless only blanks are left.
  void expect_end() {
    if (!done()) explain_end();
  }

  /// Where the next word starts, and what lies between two such places.
  [[nodiscard]] std::size_t position() {
    skip_blanks();
    return at_;
  }
  [[nodiscard]] std::string_view between(std::size_t from, std::size_t to) const {
    return line_.substr(from, to - from);
  }
  [[nodiscard]] std::size_t end_of_last() const { return at_; }
  /// All that follows the word taken last.
  [[nodiscard]] std::string_view rest() const { return line_.substr(at_); }
  /// Goes back to such a place.
  void go_to(std::size_t position) { at_ = position; }

  /// A fault at the word taken last.
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;
  /// A fault of the line as a whole.
  [[noreturn]] void fail_line(std::string message, std::string hint = {}) const;

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  void skip_blanks() {
    std::size_t at = at_;
    while (at < line_.size() && is_blank(line_[at])) ++at;
    at_ = at;
  }
  [[nodiscard]] bool ends_word(std::size_t at) const { return at == line_.size() || is_blank(line_[at]); }
  /// Where the word taken last starts.
  [[nodiscard]] std::size_t start_of_last() const {
    std::size_t start = last_;
    if (start == kSought)
      for (start = at_; start > 0 && !ends_word(start - 1);) --start;
    return start;
  }
  /// Where the word of decimal digits ends that starts at `from`; `from` itself unless it is one of at
  /// most 18.
  std::size_t digits(std::size_t from, std::uint64_t& value) const {
    std::size_t at = from;
    for (; at < line_.size(); ++at) {
      const unsigned digit = static_cast<unsigned char>(line_[at]) - unsigned{'0'};
      if (digit > 9) break;
      value = value * 10 + digit;
    }
    return at - from > 18 || !ends_word(at) ? from : at;
  }
  /// What is no plain number: the same with every check and its message.
  std::uint64_t explain_hex(const char* what, std::uint64_t max);
  std::uint64_t explain_decimal(const char* what, std::uint64_t max);
  std::int64_t explain_signed(const char* what);
  [[noreturn]] void explain_end();
  [[noreturn]] void missing(const char* what) const;

  const std::string* file_;
  unsigned number_;
  std::string_view line_;
  std::size_t at_ = 0;
  static constexpr std::size_t kSought = ~std::size_t{0};
  std::size_t last_ = 0;  ///< start of the word taken last; kSought: of the one that ends here
};

}  // namespace warpline::sass
