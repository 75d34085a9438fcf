#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "warpline/programs/ptx/parser.h"
#include "warpline/programs/ptx/syntax.h"

namespace warpline::ptx {

/// Abandons the construct being read; its fault is recorded already.
struct SyntaxError {};

/// Recursive descent over the tokens of a module. Its members are spread over parser.cpp
/// (module and functions), parse_variables.cpp and parse_statements.cpp.
class Parser {
 public:
  Parser(std::vector<Token> tokens, FaultList& faults, OpcodeSet opcodes)
      : tokens_(std::move(tokens)), faults_(faults), opcodes_(opcodes) {}
  ModuleDecl module();
  /// The whole text as one statement.
  std::optional<Statement> lone_statement();

 private:
  // Tokens.
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  bool accept(char c);
  bool accept(std::string_view word);
  const Token& expect(char c, const char* where);
  const Token& expect_word(const char* what);
  [[noreturn]] void fail(const Token& at, const std::string& message, std::string hint = {});
  /// Goes on after the next ';', or before the brace that ends the block.
  void skip_statement();
  /// Goes on at the next thing that can begin at module scope.
  void skip_top_level();
  void skip_braces();

  // Module and functions.
  void top_level();
  void function(bool is_extern);
  void formals(FunctionDecl& f, std::vector<int>& list);
  void function_directives(FunctionDecl& f);
  Dim3 extents();
  void declare_function(std::unique_ptr<FunctionDecl> f);

  // Variables.
  [[nodiscard]] bool at_variable() const;
  VariableDecl declarator(Space space, bool is_extern);
  std::vector<VariableDecl> variable_list(bool is_extern);
  VariableDecl formal();
  void registers(BlockScope& scope);
  void dimensions(VariableDecl& v);
  void initializer(VariableDecl& v);
  void initializer_list(VariableDecl& v, std::uint64_t& at, unsigned depth);
  void initializer_element(VariableDecl& v, std::uint64_t& at);
  void address_element(VariableDecl& v, std::uint64_t at, unsigned shift, unsigned bytes);
  std::uint64_t constant();
  std::int64_t offset(bool* subtracts = nullptr);
  void account(const VariableDecl& v);
  void declare_local(FunctionDecl& f, int scope, VariableDecl v);

  // Bodies.
  void body(FunctionDecl& f);
  void block(FunctionDecl& f, int scope, unsigned depth);
  void block_item(FunctionDecl& f, int scope);
  void label(FunctionDecl& f, int scope);
  Statement statement(int scope);
  void check_opcode(const Statement& s);
  void prototype(FunctionDecl& f, const Token& name);
  std::vector<std::uint64_t> prototype_list();
  Operand operand(unsigned depth = 0);
  Operand simple_operand();
  Operand address(unsigned depth);
  std::vector<Operand> operand_list(char close, unsigned depth);
  bool debug_directive();

  std::vector<Token> tokens_;
  FaultList& faults_;
  OpcodeSet opcodes_;
  std::size_t at_ = 0;
  std::uint64_t variable_bytes_ = 0;
  ModuleDecl module_;
};

}  // namespace warpline::ptx
