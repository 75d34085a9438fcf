#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "warpline/programs/wls/lexer.h"
#include "warpline/programs/wls/program.h"

namespace warpline::wls {

/// Reads one program. Faults go to the list, one for each statement at most; with any the program is not fit
/// to run.
class Parser {
 public:
  Parser(std::string_view text, FaultList& faults);
  [[nodiscard]] Program run();

 private:
  /// Thrown after a fault: the rest of the statement is skipped.
  struct Failed {};
  /// A statement being read.
  struct Statement {
    Op op;
    Instruction instruction;                       ///< its schedule and counters
    MemOp mem;                                     ///< of loads, stores and fences
    bool takes_read = false, takes_write = false;  ///< `&rd`, `&wr`
  };
  /// A name whose meaning is known when all is read.
  struct Pending {
    std::size_t op = 0;
    Token name;
  };
  struct RegisterUse {
    unsigned last = 0;
    Place place;
  };
  using Modifiers = std::vector<Token>;
  struct Opcode {
    std::string_view name;
    void (Parser::*read)(Statement&, Modifiers&, int form);
    int form = 0;
  };
  static const std::vector<Opcode>& opcodes();

  [[noreturn]] void fail(Place place, std::string message, std::string hint = {});
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  Token take();
  bool take(char c);
  void expect(char c, const char* where);
  void recover(std::size_t start);

  // Statements.
  void statement();
  void label();
  void instruction();
  void cache_control();
  void guard(Op& op);
  void controls(Statement& s);
  void append(const Statement& s, Place place);
  void finish();
  void resolve_labels();
  void resolve_symbols();
  void check_registers();
  void check_inspections();

  // Directives.
  void directive();
  void extents(Dim3& to, const std::uint64_t (&most)[3]);
  void variable(bool constant);
  void parameter();
  void show();
  void check_value();
  std::uint64_t whole(const char* what, std::uint64_t low, std::uint64_t high);
  std::uint32_t word();
  std::string new_name();
  void inspected(Inspected& what);
  void note_register(unsigned reg, Place place);

  // Operands.
  static std::optional<std::uint8_t> register_named(std::string_view text);
  std::uint8_t data_register(const char* what, unsigned words = 1);
  std::uint8_t predicate_register(bool destination);
  void note_address_register(const Op& op);
  std::uint32_t number();
  std::uint32_t signed_number();
  std::uint32_t offset();
  Operand operand();
  void address(Op& op);
  void constant_address(Op& op);
  void comma();

  // Opcodes.
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

  std::string_view text_;
  std::string plain_;  ///< without comments, for the parser of CCTL
  FaultList& faults_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Program program_;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::vector<Pending> jumps_, symbols_;
  std::vector<RegisterUse> uses_;
  std::vector<std::pair<Inspected, Place>> inspections_;
  unsigned highest_ = 0;  ///< register named, plus one
  std::optional<unsigned> registers_;
  std::uint64_t variable_bytes_ = 0;
  std::set<std::string_view> stated_;  ///< directives that stand once
};

/// Completes the SM's view of `op`, whose schedule, counters and memory operation `i` has already: kind,
/// latency and registers. Predicates stand behind the `registers` registers; an exit waits for those
/// `awaited`.
void lower(const Op& op, unsigned registers, const std::vector<unsigned>& awaited, Instruction& i);

/// Registers that an access of `mem` moves for each lane.
[[nodiscard]] inline unsigned words_of(const MemOp& mem) {
  return (mem.bytes_per_lane() + 3) / 4;
}

}  // namespace warpline::wls
