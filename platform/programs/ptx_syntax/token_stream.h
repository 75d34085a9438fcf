#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/programs/ptx_syntax/lexer.h"

namespace warpline::ptx {

/// Abandons the construct being read; its fault is recorded already.
struct SyntaxError {};

/// The tokens of a module, read from the first to the last: its `end` is never taken.
class TokenStream {
 public:
  /// Pre: an `end` is the last of `tokens`. `faults` outlives it.
  TokenStream(std::vector<Token> tokens, FaultList& faults) : tokens_(std::move(tokens)), faults_(faults) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  /// The token taken last. Pre: there is one.
  [[nodiscard]] const Token& previous() const { return tokens_[at_ - 1]; }
  /// How many have been taken.
  [[nodiscard]] std::size_t taken() const { return at_; }
  [[nodiscard]] FaultList& faults() { return faults_; }

  /// Takes the next token if it is this one.
  bool accept(char c);
  bool accept(std::string_view word);
  /// Takes the next token, which has to be `c`; `where` says for what in the fault.
  const Token& expect(char c, const char* where);
  const Token& expect_word(const char* what);
  /// Takes the next token if it is a word.
  bool accept_word();
  [[noreturn]] void fail(const Token& at, const std::string& message, std::string hint = {});
  [[noreturn]] void fail(Place at, const std::string& message, std::string hint = {});
  /// For what is no mistake, and not taken by this version.
  [[noreturn]] void fail_unsupported(const Token& at, const std::string& message);

  /// An integer, of any sign, in two's complement.
  std::uint64_t constant();
  /// The same, without a sign.
  std::uint64_t count();
  /// `+ 4`, `- 4`, or nothing, which is 0. `subtracts`: set where a minus stands.
  std::int64_t offset(bool* subtracts = nullptr);

  /// Goes on after the next ';', or before the brace that ends the block.
  void skip_statement();
  /// Goes on at the next thing that can begin at module scope.
  void skip_top_level();
  /// Goes on after the brace that closes the next one.
  void skip_braces();

 private:
  std::vector<Token> tokens_;
  FaultList& faults_;
  std::size_t at_ = 0;
};

}  // namespace warpline::ptx
