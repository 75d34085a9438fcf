#pragma once

#include <vector>

#include "platform/programs/ptx_syntax/parser.h"
#include "platform/programs/ptx_syntax/syntax.h"
#include "platform/programs/ptx_syntax/token_stream.h"

namespace warpline::ptx {

/// Reads instructions with their operands.
class StatementReader {
 public:
  /// `tokens` outlives it. `check`: as of parse_module().
  StatementReader(TokenStream& tokens, OpcodeCheck check) : tokens_(tokens), check_(check) {}
  /// `@%p ld.global.u32 %r1, [%rd1+4];` in block `scope` of its function.
  Statement statement(int scope);

 private:
  Operand operand(unsigned depth = 0);
  Operand simple_operand();
  Operand address(unsigned depth);
  std::vector<Operand> operand_list(char close, unsigned depth);

  TokenStream& tokens_;
  OpcodeCheck check_;
};

}  // namespace warpline::ptx
