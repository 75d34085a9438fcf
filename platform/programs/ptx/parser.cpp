#include "warpline/programs/ptx/parser.h"

#include <algorithm>
#include <array>

#include "warpline/programs/ptx/parser_state.h"

namespace warpline::ptx {
namespace {

const std::vector<std::string>& top_level_words() {
  static const std::vector<std::string> kWords = {
      ".version", ".target", ".address_size", ".visible", ".extern", ".weak",    ".common", ".entry",
      ".func",    ".global", ".const",        ".shared",  ".file",   ".section", ".pragma", ".loc"};
  return kWords;
}

}  // namespace

ModuleDecl parse_module(std::string_view text, FaultList& faults, OpcodeSet opcodes) {
  if (text.size() > Limits::kTextBytes) {
    faults.add({}, "the text is larger than " + std::to_string(Limits::kTextBytes >> 20) + " MiB");
    return {};
  }
  return Parser(tokenize(text, faults), faults, opcodes).module();
}

std::optional<Statement> parse_statement(std::string_view text, FaultList& faults) {
  return Parser(tokenize(text, faults), faults, OpcodeSet::any).lone_statement();
}

const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const Token& Parser::take() {
  const Token& t = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return t;
}

bool Parser::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

bool Parser::accept(std::string_view word) {
  if (!peek().is(word)) return false;
  take();
  return true;
}

const Token& Parser::expect(char c, const char* where) {
  if (!peek().is(c)) {
    const std::string found = peek().kind == TokenKind::end ? "the end of the file" : quoted(peek().text);
    fail(peek(), std::string("expected '") + c + "' " + where + ", found " + found);
  }
  return take();
}

const Token& Parser::expect_word(const char* what) {
  if (peek().kind != TokenKind::word) fail(peek(), std::string("expected ") + what);
  return take();
}

void Parser::fail(const Token& at, const std::string& message, std::string hint) {
  faults_.add(at.place(), message, std::move(hint));
  throw SyntaxError{};
}

void Parser::skip_statement() {
  unsigned depth = 0;  // of vector operands
  while (peek().kind != TokenKind::end && !peek().is(';')) {
    const bool closes_vector = peek().is('}') && (depth > 0 || peek(1).is(',') || peek(1).is(';'));
    if (peek().is('}') && !closes_vector) return;
    if (peek().is('{')) ++depth;
    if (closes_vector && depth > 0) --depth;
    take();
  }
  accept(';');
}

void Parser::skip_braces() {
  unsigned depth = 0;
  do {
    if (peek().is('{')) ++depth;
    if (peek().is('}') && depth > 0) --depth;
    take();
  } while (depth > 0 && peek().kind != TokenKind::end);
}

void Parser::skip_top_level() {
  while (peek().kind != TokenKind::end) {
    if (accept(';')) return;
    if (peek().is('{')) {
      skip_braces();
      return;
    }
    take();
  }
}

ModuleDecl Parser::module() {
  module_.malformed = !peek().is(".version");
  if (module_.malformed)
    faults_.add(peek().place(), "a PTX module begins with '.version'", "for example '.version 8.0'");
  while (peek().kind != TokenKind::end && !faults_.full()) {
    const std::size_t before = at_;
    try {
      top_level();
    } catch (const SyntaxError&) {
      module_.malformed = true;
      skip_top_level();
    }
    if (at_ == before) take();
  }
  return std::move(module_);
}

void Parser::top_level() {
  bool is_extern = false;
  if (debug_directive()) return;
  if (accept(".version")) {
    const Token& t = take();
    const Number n = read_number(t.text);
    if (t.kind != TokenKind::number || !n.is_float) fail(t, "expected a version such as '8.0'");
    if (n.real < 6.0 || n.real >= 10.0)
      fail(t, "PTX versions 6.0 to 9.x are modelled, not " + quoted(t.text));
    module_.version = static_cast<unsigned>(n.real * 10 + 0.5);
    return;
  }
  if (accept(".target")) {
    do {
      const Token& t = expect_word("a target such as 'sm_80'");
      if (t.text.substr(0, 3) != "sm_" || !module_.target.empty()) continue;
      module_.target = std::string(t.text);
      module_.target_place = t.place();
    } while (accept(','));
    return;
  }
  if (accept(".address_size")) {
    const Token& t = take();
    if (t.text != "64") fail(t, "only '.address_size 64' is modelled");
    return;
  }
  while (peek().is(".visible") || peek().is(".extern") || peek().is(".weak") || peek().is(".common"))
    is_extern |= take().is(".extern");
  if (peek().is(".entry") || peek().is(".func")) return function(is_extern);
  if (!at_variable()) {
    const Token& t = peek();
    fail(t, "expected a declaration, found " + quoted(t.text), suggestion(t.text, top_level_words()));
  }
  for (VariableDecl& v : variable_list(is_extern)) {
    const auto [entry, fresh] =
        module_.variable_index.emplace(v.name, static_cast<int>(module_.variables.size()));
    if (fresh) {
      module_.variables.push_back(std::move(v));
    } else {
      VariableDecl& old = module_.variables[static_cast<std::size_t>(entry->second)];
      if (!old.is_extern && !v.is_extern)
        fail(tokens_[at_ - 1], "variable " + quoted(v.name) + " is defined twice");
      if (old.is_extern) old = std::move(v);
    }
  }
}

Dim3 Parser::extents() {
  std::array<std::uint32_t, 3> n = {1, 1, 1};
  for (std::uint32_t& extent : n) {
    const Token& at = peek();
    const std::uint64_t value = constant();
    if (value == 0 || value > 0x7FFFFFFF) fail(at, "expected an extent from 1 to 2147483647");
    extent = static_cast<std::uint32_t>(value);
    if (!accept(',')) break;
  }
  return {n[0], n[1], n[2]};
}

void Parser::function_directives(FunctionDecl& f) {
  while (peek().kind == TokenKind::dotted) {
    const Token directive = take();
    if (directive.is(".reqntid")) {
      f.required_block = extents();
    } else if (directive.is(".maxntid")) {
      f.maximum_block = extents();
    } else if (directive.is(".maxnreg") || directive.is(".minnctapersm") || directive.is(".maxnctapersm")) {
      constant();  // advice to the assembler's register allocator: nothing to model
    } else if (directive.is(".pragma")) {
      if (take().kind != TokenKind::text) fail(directive, "expected a string after '.pragma'");
      accept(';');
    } else if (!directive.is(".noreturn")) {
      fail(directive, "directive " + quoted(directive.text) + " is not supported on a function");
    }
  }
}

void Parser::formals(FunctionDecl& f, std::vector<int>& list) {
  expect('(', "before the parameters");
  if (accept(')')) return;
  do {
    VariableDecl v = formal();
    if (v.name != "_" && f.scopes[0].variables.count(v.name) != 0)
      faults_.add(v.place, "parameter " + quoted(v.name) + " is declared twice");
    list.push_back(static_cast<int>(f.variables.size()));
    declare_local(f, 0, std::move(v));
  } while (accept(','));
  expect(')', "after the parameters");
}

void Parser::function(bool is_extern) {
  auto f = std::make_unique<FunctionDecl>();
  f->is_entry = take().is(".entry");
  f->scopes.emplace_back();
  function_directives(*f);
  if (!f->is_entry && peek().is('(')) formals(*f, f->results);
  const Token name = expect_word("the name of the function");
  f->name = std::string(name.text);
  f->place = name.place();
  if (peek().is('(')) formals(*f, f->parameters);
  function_directives(*f);
  if (!accept(';')) {
    if (!peek().is('{')) fail(peek(), "expected '{' or ';' after the signature of " + quoted(f->name));
    if (is_extern) faults_.add(f->place, "an '.extern' function has no body");
    f->has_body = true;
    body(*f);
  }
  declare_function(std::move(f));
}

void Parser::declare_function(std::unique_ptr<FunctionDecl> f) {
  const auto [entry, fresh] =
      module_.function_index.emplace(f->name, static_cast<int>(module_.functions.size()));
  if (fresh) {
    module_.functions.push_back(std::move(f));
    return;
  }
  std::unique_ptr<FunctionDecl>& old = module_.functions[static_cast<std::size_t>(entry->second)];
  if (old->has_body && f->has_body)
    faults_.add(f->place, "function " + quoted(f->name) + " is defined twice");
  if (old->parameters.size() != f->parameters.size() || old->results.size() != f->results.size())
    faults_.add(f->place, "function " + quoted(f->name) + " was declared with other parameters");
  if (f->has_body && !old->has_body) old = std::move(f);
}

}  // namespace warpline::ptx
