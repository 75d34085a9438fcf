#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/programs/fault_list.h"

namespace warpline::litmus {

using text::FaultList;
using text::Place;

enum class TokenKind : std::uint8_t {
  word,         ///< a name, with dots and double colons: "x", "ld.weak", "fence.proxy.alias"
  number,       ///< decimal or 0x, without a sign
  punctuation,  ///< "==", "!=", "/\", "\/" or one character
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  Place place;
  [[nodiscard]] bool is(std::string_view t) const {
    return (kind == TokenKind::punctuation || kind == TokenKind::word) && text == t;
  }
};

/// The tokens of `text` from `offset` on, an `end` last. White space and comments (`//`, `(* *)`) are
/// dropped; bytes that begin no token are faults.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, std::uint32_t offset, FaultList& faults);

}  // namespace warpline::litmus
