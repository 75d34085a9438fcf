#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/programs/fault_list.h"

namespace warpline::wls {

using text::FaultList;
using text::Place;

enum class TokenKind : std::uint8_t {
  word,         ///< a name with its modifiers: "LD.E.64", "SR_TID.X", "data.lo"
  directive,    ///< a word that begins with a dot: ".grid"
  number,       ///< decimal or 0x
  range,        ///< ".."
  punctuation,  ///< one character
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::uint32_t offset = 0;
  bool first_on_line = false;
  [[nodiscard]] Place place() const {
    return {offset, text.empty() ? 1U : static_cast<std::uint32_t>(text.size())};
  }
  [[nodiscard]] bool is(char c) const { return kind == TokenKind::punctuation && text[0] == c; }
};

/// The tokens of `text`, an `end` last. White space and comments (`//`, `/* */`) are dropped; bytes that
/// begin no token are faults.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, FaultList& faults);

/// `text` with every comment and line end as blanks, so that each other character stays where it is.
[[nodiscard]] std::string without_comments(std::string_view text);

}  // namespace warpline::wls
