#include "platform/programs/ptx_syntax/lexer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool in_word(char c) {
  return (starts_word(c) && c != '%') || is_digit(c);
}

/// Reads one token after another from a text.
class Lexer {
 public:
  Lexer(std::string_view text, FaultList& faults, std::uint32_t start)
      : text_(text), faults_(faults), at_(start) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skip_blank()) {
      const std::size_t start = at_;
      const TokenKind kind = step();
      if (kind == TokenKind::end) continue;
      std::string_view text = text_.substr(start, at_ - start);
      if (text == ".") text = ",";  // reported: the rest is read as it was meant
      tokens.push_back({kind, text, static_cast<std::uint32_t>(start)});
    }
    tokens.push_back({TokenKind::end, {}, static_cast<std::uint32_t>(text_.size())});
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  bool skip_blank() {
    while (at_ < text_.size()) {
      if (std::strchr(" \t\r\n\f\v", text_[at_]) != nullptr && text_[at_] != '\0') {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos)
          faults_.add({static_cast<std::uint32_t>(at_), 2}, "this comment has no end");
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  void words() {
    while (in_word(peek())) ++at_;
  }

  TokenKind step() {
    const char c = peek();
    if (starts_word(c) && (c != '%' || in_word(peek(1)))) {
      ++at_;
      words();
      return TokenKind::word;
    }
    const bool follows_word = at_ > 0 && in_word(text_[at_ - 1]);  // tex.2d
    if (c == '.' && peek(1) != '%' && (starts_word(peek(1)) || (follows_word && is_digit(peek(1))))) {
      ++at_;
      words();
      while (peek() == ':' && peek(1) == ':' && in_word(peek(2))) {
        at_ += 2;
        words();
      }
      return TokenKind::dotted;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"') return string();
    ++at_;
    if (c == '.') {
      faults_.add({static_cast<std::uint32_t>(at_ - 1), 1}, "expected ',', found '.'", "did you mean ','");
      return TokenKind::punctuation;
    }
    if (std::strchr("{}()[]<>,;:+-|@!=*/%&^~?", c) == nullptr || c == '\0')
      faults_.add({static_cast<std::uint32_t>(at_ - 1), 1}, "this character has no meaning in PTX");
    return TokenKind::punctuation;
  }

  TokenKind number() {
    const bool prefixed =
        peek() == '0' && in_word(peek(1)) && !is_digit(peek(1)) && peek(1) != 'e' && peek(1) != 'E';
    while (
        in_word(peek()) || (!prefixed && peek() == '.' && is_digit(peek(1))) ||
        (!prefixed && (peek() == '+' || peek() == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')) ||
        (!prefixed && peek() == '.' && !starts_word(peek(1))))
      ++at_;
    return TokenKind::number;
  }

  TokenKind string() {
    const std::size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
    if (peek() != '"') {
      faults_.add({static_cast<std::uint32_t>(start), 1}, "this string has no end");
      return TokenKind::end;
    }
    ++at_;
    return TokenKind::text;
  }

  std::string_view text_;
  FaultList& faults_;
  std::size_t at_;
};

Number read_integer(std::string_view digits, int base) {
  Number n;
  const auto value = number_from<std::uint64_t>(digits, base);
  n.integer = value.value_or(0);
  n.ok = value.has_value();
  return n;
}

Number read_float_bits(std::string_view digits, bool single) {
  Number n = read_integer(digits, 16);
  n.is_float = true;
  n.is_single = single;
  n.ok = n.ok && digits.size() == (single ? 8U : 16U);
  n.real = single ? static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(n.integer)))
                  : bits_as<double>(n.integer);
  return n;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text, FaultList& faults, std::uint32_t start) {
  return Lexer(text, faults, start).run();
}

Number read_number(std::string_view text) {
  const char mark = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (mark == 'f' || mark == 'F') return read_float_bits(text.substr(2), true);
  if (mark == 'd' || mark == 'D') return read_float_bits(text.substr(2), false);
  const bool hex = mark == 'x' || mark == 'X';
  if (!hex && text.find_first_of(".eE") != std::string_view::npos) {
    Number n;
    const std::string copy(text);
    char* stop = nullptr;
    n.real = std::strtod(copy.c_str(), &stop);
    n.is_float = true;
    n.ok = stop == copy.c_str() + copy.size();
    n.integer = bits_as<std::uint64_t>(n.real);
    return n;
  }
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (hex) return read_integer(text.substr(2), 16);
  if (mark == 'b' || mark == 'B') return read_integer(text.substr(2), 2);
  return text.size() > 1 && text[0] == '0' ? read_integer(text.substr(1), 8) : read_integer(text, 10);
}

}  // namespace warpline::ptx
