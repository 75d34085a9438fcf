#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "warpline/litmus/lexer.h"
#include "warpline/litmus/test.h"

namespace warpline::litmus {

/// "P0" and "0" name thread 0; kNoThread: it names none.
constexpr unsigned kNoThread = ~0U;
[[nodiscard]] unsigned thread_number(const Token& name);

/// The parser of one test. Each part of the text has a file of its own: the initial state (parser.cpp),
/// threads (parse_threads.cpp), instructions (parse_instruction.cpp), holds (parse_holds.cpp), the condition
/// (parse_condition.cpp).
class Parser {
 public:
  Parser(std::vector<Token> tokens, FaultList& faults) : tokens_(std::move(tokens)), faults_(faults) {}
  /// Everything behind the first line.
  void run(Test& test);

 private:
  // Tokens
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view text);
  /// Takes `text`, or says that it is missing.
  bool expect(std::string_view text);
  std::optional<std::int64_t> number();
  bool fail(const Token& at, std::string message, std::string hint = {});
  /// Goes on behind the next of `end`s, or before the end of the file.
  void recover(std::initializer_list<std::string_view> ends);

  // Parts
  void initial_state();
  bool initial_statement();
  bool initial_value(const Token& name, std::int64_t value);
  bool alias(const Token& name);
  void threads();
  bool placement(Thread& thread);
  void rows();
  void cell(unsigned thread);
  bool instruction(Thread& thread);
  bool access(Instruction& i, Thread& thread);
  bool barrier(Instruction& i, Thread& thread, const Token& opcode);
  bool branch(Instruction& i, Thread& thread, const Token& opcode);
  bool arithmetic(Instruction& i, Thread& thread);
  bool operand(Operand& o, Thread& thread);
  bool destination(Instruction& i, Thread& thread);
  bool address(Instruction& i);
  void resolve_labels();
  void holds();
  bool hold();
  bool known_thread(unsigned& thread);
  void condition();
  bool disjunction(Proposition& p);
  bool conjunction(Proposition& p);
  bool negation(Proposition& p);
  bool comparison(Proposition& p);
  bool term(Term& t);

  // Names
  unsigned thread_named(const Token& name) const;
  unsigned location_named(std::string_view name);
  unsigned register_named(Thread& thread, std::string_view name);

  struct Label {
    unsigned thread = 0;
    std::string_view name;
    unsigned at = 0;
  };
  struct Jump {
    unsigned thread = 0;
    unsigned instruction = 0;
    Token label;
  };
  static constexpr unsigned kNone = ~0U;

  std::vector<Token> tokens_;
  FaultList& faults_;
  std::size_t at_ = 0;
  Test* test_ = nullptr;
  unsigned thread_ = 0;  ///< whose cell is being read
  unsigned depth_ = 0;   ///< of parentheses and negations in the condition
  std::vector<Label> labels_;
  std::vector<Jump> jumps_;
  /// Registers given a value before their thread is known: by its name.
  struct InitialRegister {
    Token thread, name;
    std::int64_t value = 0;
  };
  std::vector<InitialRegister> initial_registers_;
  std::map<unsigned, std::int64_t> initial_memories_;  ///< those given a value
};

/// The operation that `opcode` says, its operands aside; a fault where PTX has no such operation.
[[nodiscard]] std::optional<MemOp> operation_of(const Token& opcode, Instruction& i, FaultList& faults);

}  // namespace warpline::litmus
