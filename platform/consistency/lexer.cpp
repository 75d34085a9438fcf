#include "platform/consistency/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "rtl_models/base/text.h"

namespace warpline::litmus {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '$';
}

class Lexer {
 public:
  Lexer(std::string_view text, std::uint32_t offset, FaultList& faults)
      : text_(text), at_(offset), faults_(faults) {}

  std::vector<Token> run() {
    while (skip_blanks()) token();
    const auto end = static_cast<std::uint32_t>(text_.size());
    tokens_.push_back({TokenKind::end, {}, {end, 1}});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool sees(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  /// Returns whether anything is left.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (sees("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (sees("(*")) {
        const std::size_t end = text_.find("*)", at_ + 2);
        if (end == std::string_view::npos) faults_.add(here(2), "this comment has no end", "write \"*)\"");
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] Place here(std::size_t length) const {
    return {static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(length)};
  }
  void push(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(at_, length), here(length)});
    at_ += length;
  }

  void token() {
    static constexpr std::array<std::string_view, 4> kPairs = {"==", "!=", "/\\", "\\/"};
    static constexpr std::string_view kSingles = "{};|@,=~():+-[]<>!";
    std::size_t n = 1;
    if (is_letter(text_[at_])) {
      while (is_letter(peek(n)) || is_digit(peek(n)) || (peek(n) == '.' && is_letter(peek(n + 1))) ||
             continues_scope(n))
        n += peek(n) == ':' ? 2 : 1;
      return push(TokenKind::word, n);
    }
    if (is_digit(text_[at_])) {
      while (std::isalnum(static_cast<unsigned char>(peek(n))) != 0) ++n;
      return push(TokenKind::number, n);
    }
    for (const std::string_view pair : kPairs)
      if (sees(pair)) return push(TokenKind::punctuation, 2);
    if (kSingles.find(text_[at_]) != std::string_view::npos) return push(TokenKind::punctuation, 1);
    faults_.add(here(1), "no token begins with " + text::quoted(text_.substr(at_, 1)));
    ++at_;
  }

  /// "L1::evict_last": a double colon inside a word.
  [[nodiscard]] bool continues_scope(std::size_t n) const {
    return peek(n) == ':' && peek(n + 1) == ':' && is_letter(peek(n + 2));
  }

  std::string_view text_;
  std::size_t at_;
  FaultList& faults_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, std::uint32_t offset, FaultList& faults) {
  return Lexer(text, offset, faults).run();
}

}  // namespace warpline::litmus
