#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "warpline/isa/sass_cctl_text.h"

namespace warpline {

/// A stretch of the text.
struct TextSpan {
  std::size_t at = 0;
  std::size_t length = 1;
};

/// Reads one CCTL or CCTLL; see parse_cctl().
class CctlParser {
 public:
  CctlParser(std::string_view text, const TextPlace& place) : text_(text), place_(place) {}

  [[nodiscard]] Result<Cctl> parse();

 private:
  static bool is_word(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  }
  bool fail(TextSpan where, std::string message, std::string hint = {}) {
    Diagnostic d;
    d.file = place_.file;
    d.line = place_.line;
    d.column = place_.column + static_cast<unsigned>(where.at);
    d.length = static_cast<unsigned>(where.length);
    d.source = place_.source.empty() ? std::string(text_) : place_.source;
    d.message = std::move(message);
    d.hint = std::move(hint);
    fault_ = std::move(d);
    return false;
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// Letters, digits and underscores from here on; may be empty.
  std::string_view word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }
  TextSpan here() const { return {at_, 1}; }
  TextSpan since(std::size_t from) const { return {from, at_ > from ? at_ - from : 1}; }

  bool predicate();
  bool mnemonic();
  bool modifier(std::string_view name, TextSpan where);
  bool address();
  bool address_register();
  bool offset(bool after_register);
  bool number(std::uint64_t& value, const char* what);
  bool controls();
  bool control(bool& seen, unsigned& rank);
  bool end();
  TextSpan place_of(CctlFault fault) const;
  std::string hint_for(CctlFault fault) const;

  std::string_view text_;
  const TextPlace& place_;
  std::size_t at_ = 0;
  Cctl c_;
  bool has_cache_ = false, has_operation_ = false, has_wait_ = false;
  TextSpan opcode_, extended_, cache_, operation_, register_, immediate_, required_, scoreboard_, wait_;
  std::optional<Diagnostic> fault_;
};

}  // namespace warpline
