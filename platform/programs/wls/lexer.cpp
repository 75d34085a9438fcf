#include "platform/programs/wls/lexer.h"

namespace warpline::wls {
namespace {

constexpr std::string_view kPunctuation = ";:,[]{}@!&?=+-";

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$';
}
bool is_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

/// A byte of a UTF-8 character behind its first.
bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Where the comment that begins at `at` ends, or `at` if none does. One that is never closed reaches the
/// end.
std::size_t comment_end(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) != "/*") return at;
  const std::size_t close = text.find("*/", at + 2);
  return close == std::string_view::npos ? text.size() : close + 2;
}

class Lexer {
 public:
  Lexer(std::string_view text, FaultList& faults) : text_(text), faults_(faults) {}

  std::vector<Token> run() {
    while (skip()) next();
    emit(TokenKind::end, 0);
    return std::move(tokens_);
  }

 private:
  /// To the next token; false at the end.
  bool skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const std::size_t comment = comment_end(text_, at_);
      if (comment != at_) {
        if (text_[at_ + 1] == '*' &&
            text_.substr(at_ + 2, comment - at_ - 2).find("*/") == std::string_view::npos)
          faults_.add({static_cast<std::uint32_t>(at_), 2}, "this comment is never closed");
        at_ = comment;
        continue;
      }
      if (c == '\n') fresh_ = true;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return true;
      ++at_;
    }
    return false;
  }

  void emit(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, text_.substr(at_, length), static_cast<std::uint32_t>(at_), fresh_});
    fresh_ = false;
    at_ += length;
  }

  /// A word from `at` on, with what dots join to it.
  [[nodiscard]] std::size_t word_end(std::size_t at) const {
    while (at < text_.size() &&
           (is_word(text_[at]) || (text_[at] == '.' && at + 1 < text_.size() && is_word(text_[at + 1]))))
      ++at;
    return at;
  }

  void next() {
    const char c = text_[at_];
    if (is_letter(c)) return emit(TokenKind::word, word_end(at_) - at_);
    if (c >= '0' && c <= '9') {
      std::size_t end = at_;
      while (end < text_.size() && is_word(text_[end])) ++end;
      return emit(TokenKind::number, end - at_);
    }
    if (text_.substr(at_, 2) == "..") return emit(TokenKind::range, 2);
    if (c == '.' && at_ + 1 < text_.size() && is_letter(text_[at_ + 1]))
      return emit(TokenKind::directive, word_end(at_ + 1) - at_);
    if (kPunctuation.find(c) != std::string_view::npos) return emit(TokenKind::punctuation, 1);
    faults_.add({static_cast<std::uint32_t>(at_), 1}, "this character belongs to no instruction");
    do ++at_;
    while (at_ < text_.size() && is_continuation(text_[at_]));
  }

  std::string_view text_;
  FaultList& faults_;
  std::size_t at_ = 0;
  bool fresh_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, FaultList& faults) {
  return Lexer(text, faults).run();
}

std::string without_comments(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = comment_end(text, at);
    for (std::size_t i = at; i < end; ++i) out[i] = ' ';
    if (end == at) {
      if (out[at] == '\n' || out[at] == '\r') out[at] = ' ';
      ++at;
    } else {
      at = end;
    }
  }
  return out;
}

}  // namespace warpline::wls
