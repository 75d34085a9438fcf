#include "platform/programs/ptx_syntax/parser.h"

#include <algorithm>
#include <array>

#include "platform/programs/ptx_syntax/statement_reader.h"
#include "platform/programs/ptx_syntax/variable_reader.h"

namespace warpline::ptx {
namespace {

const std::vector<std::string>& top_level_words() {
  static const std::vector<std::string> kWords = {
      ".version", ".target", ".address_size", ".visible", ".extern", ".weak",    ".common", ".entry",
      ".func",    ".global", ".const",        ".shared",  ".file",   ".section", ".pragma", ".loc"};
  return kWords;
}

/// The declarations and functions of a module.
class Parser {
 public:
  Parser(std::vector<Token> tokens, FaultList& faults, OpcodeCheck check)
      : tokens_(std::move(tokens), faults), variables_(tokens_), statements_(tokens_, check) {}
  ModuleDecl module() {
    module_.malformed = !tokens_.peek().is(".version");
    if (module_.malformed)
      tokens_.faults().add(tokens_.peek().place(), "a PTX module begins with '.version'",
                           "for example '.version 8.0'");
    while (tokens_.peek().kind != TokenKind::end && !tokens_.faults().full()) {
      const std::size_t before = tokens_.taken();
      try {
        top_level();
      } catch (const SyntaxError&) {
        module_.malformed = true;
        tokens_.skip_top_level();
      }
      if (tokens_.taken() == before) tokens_.take();
    }
    return std::move(module_);
  }

  /// The whole text as one statement.
  std::optional<Statement> lone_statement() {
    try {
      Statement s = statements_.statement(0);
      if (tokens_.peek().kind == TokenKind::end) return s;
      tokens_.faults().add(tokens_.peek().place(), "expected one instruction, found more");
    } catch (const SyntaxError&) {
    }
    return std::nullopt;
  }

 private:
  void top_level() {
    bool is_extern = false;
    if (debug_directive()) return;
    if (tokens_.accept(".version")) {
      const Token& t = tokens_.take();
      const Number n = read_number(t.text);
      if (t.kind != TokenKind::number || !n.is_float) tokens_.fail(t, "expected a version such as '8.0'");
      if (n.real < 6.0 || n.real >= 10.0)
        tokens_.fail(t, "PTX versions 6.0 to 9.x are modelled, not " + quoted(t.text));
      module_.version = static_cast<unsigned>(n.real * 10 + 0.5);
      return;
    }
    if (tokens_.accept(".target")) {
      do {
        const Token& t = tokens_.expect_word("a target such as 'sm_80'");
        if (t.text.substr(0, 3) != "sm_" || !module_.target.empty()) continue;
        module_.target = std::string(t.text);
        module_.target_place = t.place();
      } while (tokens_.accept(','));
      return;
    }
    if (tokens_.accept(".address_size")) {
      const Token& t = tokens_.take();
      if (t.text != "64") tokens_.fail(t, "only '.address_size 64' is modelled");
      return;
    }
    while (tokens_.peek().is(".visible") || tokens_.peek().is(".extern") || tokens_.peek().is(".weak") ||
           tokens_.peek().is(".common"))
      is_extern |= tokens_.take().is(".extern");
    if (tokens_.peek().is(".entry") || tokens_.peek().is(".func")) return function(is_extern);
    if (!variables_.at_variable()) {
      const Token& t = tokens_.peek();
      tokens_.fail(t, "expected a declaration, found " + quoted(t.text),
                   suggestion(t.text, top_level_words()));
    }
    for (VariableDecl& v : variables_.variable_list(is_extern)) {
      const auto [entry, fresh] =
          module_.variable_index.emplace(v.name, static_cast<int>(module_.variables.size()));
      if (fresh) {
        module_.variables.push_back(std::move(v));
      } else {
        VariableDecl& old = module_.variables[static_cast<std::size_t>(entry->second)];
        if (!old.is_extern && !v.is_extern)
          tokens_.fail(tokens_.previous(), "variable " + quoted(v.name) + " is defined twice");
        if (old.is_extern) old = std::move(v);
      }
    }
  }

  void function(bool is_extern) {
    auto f = std::make_unique<FunctionDecl>();
    f->is_entry = tokens_.take().is(".entry");
    f->scopes.emplace_back();
    function_directives(*f);
    if (!f->is_entry && tokens_.peek().is('(')) formals(*f, f->results);
    const Token name = tokens_.expect_word("the name of the function");
    f->name = std::string(name.text);
    f->place = name.place();
    if (tokens_.peek().is('(')) formals(*f, f->parameters);
    function_directives(*f);
    if (!tokens_.accept(';')) {
      if (!tokens_.peek().is('{'))
        tokens_.fail(tokens_.peek(), "expected '{' or ';' after the signature of " + quoted(f->name));
      if (is_extern) tokens_.faults().add(f->place, "an '.extern' function has no body");
      f->has_body = true;
      body(*f);
    }
    declare_function(std::move(f));
  }

  void formals(FunctionDecl& f, std::vector<int>& list) {
    tokens_.expect('(', "before the parameters");
    if (tokens_.accept(')')) return;
    do {
      VariableDecl v = variables_.formal();
      if (v.name != "_" && f.scopes[0].variables.count(v.name) != 0)
        tokens_.faults().add(v.place, "parameter " + quoted(v.name) + " is declared twice");
      list.push_back(static_cast<int>(f.variables.size()));
      declare_local(f, 0, std::move(v));
    } while (tokens_.accept(','));
    tokens_.expect(')', "after the parameters");
  }

  void function_directives(FunctionDecl& f) {
    while (tokens_.peek().kind == TokenKind::dotted) {
      const Token directive = tokens_.take();
      if (directive.is(".reqntid")) {
        f.required_block = extents();
      } else if (directive.is(".maxntid")) {
        f.maximum_block = extents();
      } else if (directive.is(".maxnreg") || directive.is(".minnctapersm") || directive.is(".maxnctapersm")) {
        tokens_.constant();  // advice to the assembler's register allocator: nothing to model
      } else if (directive.is(".pragma")) {
        if (tokens_.take().kind != TokenKind::text)
          tokens_.fail(directive, "expected a string after '.pragma'");
        tokens_.accept(';');
      } else if (!directive.is(".noreturn")) {
        tokens_.fail(directive, "directive " + quoted(directive.text) + " is not supported on a function");
      }
    }
  }

  Dim3 extents() {
    std::array<std::uint32_t, 3> n = {1, 1, 1};
    for (std::uint32_t& extent : n) {
      const Token& at = tokens_.peek();
      const std::uint64_t value = tokens_.constant();
      if (value == 0 || value > 0x7FFFFFFF) tokens_.fail(at, "expected an extent from 1 to 2147483647");
      extent = static_cast<std::uint32_t>(value);
      if (!tokens_.accept(',')) break;
    }
    return {n[0], n[1], n[2]};
  }

  void declare_function(std::unique_ptr<FunctionDecl> f) {
    const auto [entry, fresh] =
        module_.function_index.emplace(f->name, static_cast<int>(module_.functions.size()));
    if (fresh) {
      module_.functions.push_back(std::move(f));
      return;
    }
    std::unique_ptr<FunctionDecl>& old = module_.functions[static_cast<std::size_t>(entry->second)];
    if (old->has_body && f->has_body)
      tokens_.faults().add(f->place, "function " + quoted(f->name) + " is defined twice");
    if (old->parameters.size() != f->parameters.size() || old->results.size() != f->results.size())
      tokens_.faults().add(f->place, "function " + quoted(f->name) + " was declared with other parameters");
    if (f->has_body && !old->has_body) old = std::move(f);
  }

  void declare_local(FunctionDecl& f, int scope, VariableDecl v) {
    const int index = static_cast<int>(f.variables.size());
    const auto [entry, fresh] = f.scopes[static_cast<std::size_t>(scope)].variables.emplace(v.name, index);
    if (!fresh && v.name != "_" && f.has_body)
      tokens_.faults().add(v.place, "variable " + quoted(v.name) + " is defined twice");
    f.variables.push_back(std::move(v));
  }

  void body(FunctionDecl& f) {
    tokens_.expect('{', "before the body");
    block(f, 0, 0);
  }

  void block(FunctionDecl& f, int scope, unsigned depth) {
    if (depth > Limits::kDepth) tokens_.fail(tokens_.previous(), "these braces are nested too deeply");
    while (!tokens_.peek().is('}')) {
      if (tokens_.peek().kind == TokenKind::end || tokens_.faults().full())
        tokens_.fail(tokens_.peek(), "the body of " + quoted(f.name) + " has no end");
      if (tokens_.accept('{')) {
        f.scopes.emplace_back();
        f.scopes.back().parent = scope;
        block(f, static_cast<int>(f.scopes.size()) - 1, depth + 1);
        continue;
      }
      try {
        block_item(f, scope);
      } catch (const SyntaxError&) {
        tokens_.skip_statement();
      }
    }
    tokens_.take();
  }

  void block_item(FunctionDecl& f, int scope) {
    const Token& t = tokens_.peek();
    if (tokens_.accept(';') || debug_directive()) return;
    if (t.is(".reg")) return variables_.registers(f.scopes[static_cast<std::size_t>(scope)]);
    if (variables_.at_variable() || t.is(".extern")) {
      const bool is_extern = tokens_.accept(".extern");
      const Space global_space = Space::global;
      for (VariableDecl& v : variables_.variable_list(is_extern)) {
        if (v.space == global_space || v.space == Space::constant) {
          tokens_.faults().add(v.place, "variables inside a function are .local, .shared or .param");
          continue;
        }
        declare_local(f, scope, std::move(v));
      }
      return;
    }
    if (t.kind == TokenKind::word && tokens_.peek(1).is(':')) return label(f, scope);
    f.statements.push_back(statements_.statement(scope));
  }

  void label(FunctionDecl& f, int scope) {
    const Token name = tokens_.take();
    tokens_.take();
    if (tokens_.peek().is(".callprototype")) return prototype(f, name);
    if (tokens_.accept(".branchtargets")) {
      TargetList list;
      list.place = name.place();
      do {
        const Token& target = tokens_.expect_word("a label");
        list.labels.emplace_back(std::string(target.text), target.place());
      } while (tokens_.accept(','));
      tokens_.expect(';', "after the labels");
      f.target_lists.emplace(std::string(name.text), std::move(list));
      return;
    }
    const LabelDecl here{static_cast<std::uint32_t>(f.statements.size()), name.place(), scope};
    if (!f.labels.emplace(std::string(name.text), here).second)
      tokens_.faults().add(name.place(), "label " + quoted(name.text) + " is defined twice");
  }

  void prototype(FunctionDecl& f, const Token& name) {
    tokens_.take();
    Prototype p;
    p.place = name.place();
    if (tokens_.peek().is('(')) p.results = prototype_list();
    tokens_.expect_word("'_' in a prototype");
    if (tokens_.peek().is('(')) p.parameters = prototype_list();
    tokens_.accept(".noreturn");
    tokens_.expect(';', "after the prototype");
    f.prototypes.emplace(std::string(name.text), std::move(p));
  }

  std::vector<std::uint64_t> prototype_list() {
    std::vector<std::uint64_t> sizes;
    tokens_.expect('(', "before the parameters of a prototype");
    if (tokens_.accept(')')) return sizes;
    do {
      sizes.push_back(variables_.formal().bytes);
    } while (tokens_.accept(','));
    tokens_.expect(')', "after the parameters of a prototype");
    return sizes;
  }

  bool debug_directive() {
    if (tokens_.accept(".file") || tokens_.accept(".loc")) {
      while (tokens_.peek().kind == TokenKind::number || tokens_.peek().kind == TokenKind::text ||
             tokens_.peek().is(',') || tokens_.peek().is('+') || tokens_.peek().is("function_name") ||
             tokens_.peek().is("inlined_at") ||
             (tokens_.peek().kind == TokenKind::word && tokens_.previous().is("function_name")))
        tokens_.take();
      tokens_.accept(';');
      return true;
    }
    if (tokens_.accept(".section")) {
      while (!tokens_.peek().is('{') && tokens_.peek().kind != TokenKind::end) tokens_.take();
      tokens_.skip_braces();
      return true;
    }
    if (tokens_.accept(".pragma")) {
      do {
        if (tokens_.take().kind != TokenKind::text)
          tokens_.fail(tokens_.previous(), "expected a string after '.pragma'");
      } while (tokens_.accept(','));
      tokens_.expect(';', "after '.pragma'");
      return true;
    }
    return false;
  }

  TokenStream tokens_;
  VariableReader variables_;
  StatementReader statements_;
  ModuleDecl module_;
};

}  // namespace

ModuleDecl parse_module(std::string_view text, FaultList& faults, OpcodeCheck check) {
  if (text.size() > Limits::kTextBytes) {
    faults.add({}, "the text is larger than " + std::to_string(Limits::kTextBytes >> 20) + " MiB");
    return {};
  }
  return Parser(tokenize(text, faults), faults, check).module();
}

std::optional<Statement> parse_statement(std::string_view text, FaultList& faults) {
  return Parser(tokenize(text, faults), faults, nullptr).lone_statement();
}

}  // namespace warpline::ptx
