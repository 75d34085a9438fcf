#pragma once

#include <cstdint>
#include <vector>

#include "platform/programs/ptx_syntax/syntax.h"
#include "platform/programs/ptx_syntax/token_stream.h"

namespace warpline::ptx {

/// Reads declarations: variables with their initial contents, formal parameters, registers.
class VariableReader {
 public:
  /// `tokens` outlives it.
  explicit VariableReader(TokenStream& tokens) : tokens_(tokens) {}

  /// Whether a variable's state space comes next.
  [[nodiscard]] bool at_variable() const;
  /// `.global .b32 a, b[4] = {1, 2};`
  std::vector<VariableDecl> variable_list(bool is_extern);
  /// `.param .u64 p`
  VariableDecl formal();
  /// `.reg .b32 %r<20>;`
  void registers(BlockScope& scope);

 private:
  VariableDecl declarator(Space space, bool is_extern);
  void dimensions(VariableDecl& v);
  void account(const VariableDecl& v);
  void initializer(VariableDecl& v);
  void initializer_list(VariableDecl& v, std::uint64_t& at, unsigned depth);
  void initializer_element(VariableDecl& v, std::uint64_t& at);
  void address_element(VariableDecl& v, std::uint64_t at, unsigned shift, unsigned bytes);

  TokenStream& tokens_;
  std::uint64_t variable_bytes_ = 0;  ///< of all variables so far
};

}  // namespace warpline::ptx
