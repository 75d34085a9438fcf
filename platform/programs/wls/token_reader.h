#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/wls/lexer.h"

namespace warpline::wls {

/// Thrown after a fault: the rest of the statement is skipped.
struct Failed {};

/// The tokens of a program, read from the first to the last, and the numbers among them.
class TokenReader {
 public:
  TokenReader(std::string_view text, FaultList& faults) : tokens_(tokenize(text, faults)), faults_(faults) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token take();
  /// Takes the next token if it is `c`.
  bool take(char c);
  /// Takes the next token, which has to be `c`; `where` says for what in the fault.
  void expect(char c, const char* where);
  [[noreturn]] void fail(Place place, std::string message, std::string hint = {});

  /// The token taken last. Pre: there is one.
  [[nodiscard]] const Token& previous() const { return tokens_[at_ - 1]; }
  /// How many have been taken.
  [[nodiscard]] std::size_t taken() const { return at_; }
  /// Goes back, or on, to where `taken` were taken.
  void go_to(std::size_t taken) { at_ = taken; }
  [[nodiscard]] FaultList& faults() { return faults_; }

  /// An unsigned number of 32 bits.
  std::uint32_t number();
  /// The same, with an optional sign; in two's complement.
  std::uint32_t signed_number();
  /// `+ imm`, `- imm` or `+ -imm` behind an address register: 32 signed bits, as CCTL has them.
  std::uint32_t offset();
  /// A number in [low, high].
  std::uint64_t whole(const char* what, std::uint64_t low, std::uint64_t high);

 private:
  std::vector<Token> tokens_;
  FaultList& faults_;
  std::size_t at_ = 0;
};

/// The number of "R12" or "RZ".
[[nodiscard]] std::optional<std::uint8_t> register_named(std::string_view text);

}  // namespace warpline::wls
