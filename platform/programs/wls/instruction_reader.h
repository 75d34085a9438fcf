#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/wls/draft.h"
#include "platform/programs/wls/token_reader.h"

namespace warpline::wls {

/// Reads instructions.
class InstructionReader {
 public:
  /// `text` is what `tokens` were made of; all outlive it.
  InstructionReader(std::string_view text, TokenReader& tokens, Draft& draft)
      : plain_(without_comments(text)), tokens_(tokens), draft_(draft) {}
  void instruction();

 private:
  /// A statement being read.
  struct Statement {
    Op op;
    Instruction instruction;                       ///< its schedule and counters
    MemOp mem;                                     ///< of loads, stores and fences
    bool takes_read = false, takes_write = false;  ///< `&rd`, `&wr`
  };
  using Modifiers = std::vector<Token>;
  struct Opcode {
    std::string_view name;
    void (InstructionReader::*read)(Statement&, Modifiers&, int form);
    int form = 0;
  };
  static const std::vector<Opcode>& opcodes();

  void cache_control();
  void guard(Op& op);
  void controls(Statement& s);
  void append(const Statement& s, Place place);

  std::uint8_t data_register(const char* what, unsigned words = 1);
  std::uint8_t predicate_register(bool destination);
  void note_address_register(const Op& op);
  Operand operand();
  void address(Op& op);
  void constant_address(Op& op);
  void comma();

  void read_plain(Statement& s, Modifiers& m, int form);
  void read_move(Statement& s, Modifiers& m, int form);
  void read_binary(Statement& s, Modifiers& m, int form);
  void read_multiply(Statement& s, Modifiers& m, int form);
  void read_logic(Statement& s, Modifiers& m, int form);
  void read_compare(Statement& s, Modifiers& m, int form);
  void read_special(Statement& s, Modifiers& m, int form);
  void read_jump(Statement& s, Modifiers& m, int form);
  void read_barrier(Statement& s, Modifiers& m, int form);
  void read_fence(Statement& s, Modifiers& m, int form);
  void read_stack(Statement& s, Modifiers& m, int form);
  void read_load(Statement& s, Modifiers& m, int form);
  void read_store(Statement& s, Modifiers& m, int form);
  void read_constant(Statement& s, Modifiers& m, int form);
  void memory_modifiers(Statement& s, Modifiers& m, bool store);
  static bool take_modifier(Modifiers& m, std::string_view name);

  std::string plain_;  ///< the text without comments, for the parser of CCTL
  TokenReader& tokens_;
  Draft& draft_;
};

}  // namespace warpline::wls
