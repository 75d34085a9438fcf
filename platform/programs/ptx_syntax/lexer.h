#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/programs/fault_list.h"

namespace warpline::ptx {

using text::FaultList;
using text::Place;
using text::quoted;
using text::suggestion;

/// What a token is (PTX ISA, "Syntax").
enum class TokenKind : std::uint8_t {
  word,         ///< identifier, `%` and `$` ones included
  dotted,       ///< a word that starts with a dot, `::` included: .reg, .f32, .L1::evict_last
  number,       ///< integer or floating-point literal
  text,         ///< "string", quotes included
  punctuation,  ///< one character
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::uint32_t offset = 0;
  [[nodiscard]] Place place() const {
    return {offset, text.empty() ? 1U : static_cast<std::uint32_t>(text.size())};
  }
  [[nodiscard]] bool is(char c) const {
    return kind == TokenKind::punctuation && text.size() == 1 && text[0] == c;
  }
  [[nodiscard]] bool is(std::string_view s) const { return text == s && kind != TokenKind::text; }
};

/// The tokens of `text`, an `end` last. Comments and white space are dropped; bytes that begin no
/// token are faults, and punctuation that nothing expects. What comes before `start` is left out.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, FaultList& faults, std::uint32_t start = 0);

/// A literal's value.
struct Number {
  bool is_float = false;
  std::uint64_t integer = 0;  ///< two's complement
  double real = 0;
  bool is_single = false;  ///< 0fXXXXXXXX: `integer` has its 32 bits
  bool ok = false;
};
/// Reads a `number` token (PTX ISA, "Constants"). `ok` is false where it has too many digits.
[[nodiscard]] Number read_number(std::string_view text);

}  // namespace warpline::ptx
