#include "warpline/programs/wls/parser.h"

#include <algorithm>

#include "warpline/isa/sass_cctl_text.h"

namespace warpline::wls {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

bool begins_statement(const Token& t) {
  return t.kind == TokenKind::word || t.kind == TokenKind::directive || t.is('@');
}

}  // namespace

Parser::Parser(std::string_view text, FaultList& faults)
    : text_(text), plain_(without_comments(text)), faults_(faults), tokens_(tokenize(text, faults)) {}

void Parser::fail(Place place, std::string message, std::string hint) {
  faults_.add(place, std::move(message), std::move(hint));
  throw Failed{};
}

const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token Parser::take() {
  const Token t = peek();
  if (t.kind != TokenKind::end) ++at_;
  return t;
}

bool Parser::take(char c) {
  if (!peek().is(c)) return false;
  ++at_;
  return true;
}

/// What is missing is missing where the last token ends.
void Parser::expect(char c, const char* where) {
  if (take(c)) return;
  Place place = peek().place();
  if (at_ != 0 && (peek().first_on_line || peek().kind == TokenKind::end)) {
    const Token& before = tokens_[at_ - 1];
    place = {before.offset + static_cast<std::uint32_t>(before.text.size()), 1};
  }
  fail(place, std::string("expected '") + c + "' " + where);
}

/// Leaves out the statement that began at token `start`, to its semicolon or the next line.
void Parser::recover(std::size_t start) {
  const auto of_it = [this](const Pending& p) { return p.op == program_.ops.size(); };
  jumps_.erase(std::remove_if(jumps_.begin(), jumps_.end(), of_it), jumps_.end());
  symbols_.erase(std::remove_if(symbols_.begin(), symbols_.end(), of_it), symbols_.end());
  at_ = std::max(at_, start + 1);
  if (tokens_[at_ - 1].is(';')) return;
  while (peek().kind != TokenKind::end && !peek().first_on_line)
    if (take().is(';')) return;
}

Program Parser::run() {
  while (peek().kind != TokenKind::end && !faults_.full()) {
    const std::size_t start = at_;
    try {
      statement();
    } catch (const Failed&) {
      recover(start);
    }
  }
  finish();
  return std::move(program_);
}

void Parser::statement() {
  if (peek().kind == TokenKind::directive) return directive();
  if (peek().kind == TokenKind::word && peek(1).is(':')) return label();
  if (take(';')) return;
  instruction();
}

void Parser::label() {
  const Token name = take();
  take();
  if (name.text.find('.') != std::string_view::npos) fail(name.place(), "a label has no dot in its name");
  if (!labels_.emplace(name.text, program_.ops.size()).second)
    fail(name.place(), "label " + ptx::quoted(name.text) + " stands here a second time");
}

void Parser::guard(Op& op) {
  if (!take('@')) return;
  op.unless = take('!');
  op.predicate = predicate_register(false);
}

void Parser::instruction() {
  const std::size_t start = at_;
  Statement s;
  guard(s.op);
  const Token word = peek();
  if (word.kind != TokenKind::word)
    fail(word.place(), "an instruction, a label or a directive is expected here");
  const std::string_view name = word.text.substr(0, word.text.find('.'));
  if (name == "CCTL" || name == "CCTLL") {
    at_ = start;
    return cache_control();
  }
  take();
  Modifiers modifiers;
  for (std::size_t at = name.size(); at < word.text.size();) {
    const std::size_t end = std::min(word.text.find('.', at + 1), word.text.size());
    Token m = word;
    m.text = word.text.substr(at, end - at);
    m.offset = word.offset + static_cast<std::uint32_t>(at);
    modifiers.push_back(m);
    at = end;
  }
  const auto& all = opcodes();
  const auto opcode = std::find_if(all.begin(), all.end(), [&](const Opcode& o) { return o.name == name; });
  if (opcode == all.end()) {
    std::vector<std::string> names = {"CCTL", "CCTLL"};
    for (const Opcode& o : all) names.emplace_back(o.name);
    fail({word.offset, static_cast<std::uint32_t>(name.size())},
         ptx::quoted(name) + " is no instruction that is known", ptx::suggestion(upper(name), names));
  }
  (this->*opcode->read)(s, modifiers, opcode->form);
  if (!modifiers.empty())
    fail(modifiers.front().place(),
         ptx::quoted(name) + " takes no " + ptx::quoted(modifiers.front().text) + " here");
  controls(s);
  expect(';', "at the end of an instruction");
  append(s, word.place());
}

/// CCTL and CCTLL have a parser of their own, which gets the statement's text.
void Parser::cache_control() {
  const Token first = peek();
  do ++at_;
  while (!peek().is(';') && !(peek().first_on_line && begins_statement(peek())) &&
         peek().kind != TokenKind::end);
  expect(';', "at the end of an instruction");
  const std::uint32_t end = tokens_[at_ - 1].offset + 1;
  const auto parsed = parse_cctl(std::string_view(plain_).substr(first.offset, end - first.offset));
  if (!parsed.ok()) {
    const Diagnostic& d = parsed.faults().front();
    fail({first.offset + d.column - 1, d.length}, d.message, d.hint);
  }
  const Cctl& c = parsed.value();
  Statement s;
  s.op.cctl = c;
  s.op.predicate = c.predicate;
  s.op.unless = c.unless;
  s.op.a = c.address_register;
  s.op.extended = c.extended;
  s.instruction.required = c.required;
  s.instruction.wait = c.wait;
  s.instruction.read_counter = c.read_scoreboard;
  const CctlTarget target = target_of(c);
  switch (target) {
    case CctlTarget::call_return_stack: s.op.code = Code::flush_stack; break;
    case CctlTarget::constants: s.op.code = Code::invalidate_constants; break;
    case CctlTarget::instructions: s.op.code = Code::invalidate_instructions; break;
    default: s.op.code = Code::cache_control;
  }
  s.mem.kind = MemKind::cache_control;
  s.mem.space = c.local ? Space::local : Space::generic;
  s.mem.cache_operation = c.operation;
  s.mem.cache_target = target;
  note_address_register(s.op);
  append(s, first.place());
}

/// `&req=0xNN`, `&rd=N`, `&wr=N` and `?WAITn`, each once, in any order.
void Parser::controls(Statement& s) {
  Instruction& i = s.instruction;
  bool required = false, read = false, write = false, waits = false;
  const auto once = [this](bool& seen, const Token& name) {
    if (seen) fail(name.place(), ptx::quoted(name.text) + " stands here a second time");
    seen = true;
  };
  for (;;) {
    if (take('?')) {
      const Token name = take();
      once(waits, name);
      unsigned n = 0;
      for (const char c :
           name.text.substr(0, 4) == "WAIT" && name.text.size() <= 6 ? name.text.substr(4) : "x")
        n = c >= '0' && c <= '9' ? n * 10 + static_cast<unsigned>(c - '0') : 99;
      if (n == 0 || n > Cctl::kLongestWait) fail(name.place(), "a schedule is written ?WAIT1 to ?WAIT15");
      i.wait = static_cast<std::uint8_t>(n);
      continue;
    }
    if (!take('&')) return;
    const Token name = take();
    const auto counter = [&] {
      expect('=', "behind the name of a scoreboard");
      return static_cast<std::uint8_t>(whole("a scoreboard", 0, DependenceCounters::kCounters - 1));
    };
    if (name.text == "req") {
      once(required, name);
      expect('=', "behind &req");
      i.required = static_cast<std::uint8_t>(whole("&req", 0, (1U << DependenceCounters::kCounters) - 1));
    } else if (name.text == "rd") {
      once(read, name);
      if (!s.takes_read)
        fail(name.place(), "&rd belongs to loads, stores and cache control: they read their operands late");
      i.read_counter = counter();
    } else if (name.text == "wr") {
      once(write, name);
      if (!s.takes_write) fail(name.place(), "&wr belongs to loads: their results come late");
      i.write_counter = counter();
    } else {
      fail(name.place(), ptx::quoted(name.text) + " is no scoreboard field",
           ptx::suggestion(name.text, {"req", "rd", "wr"}));
    }
  }
}

void Parser::append(const Statement& s, Place place) {
  program_.ops.push_back(s.op);
  Instruction i = s.instruction;
  i.mem = s.mem;
  i.pc = static_cast<std::uint32_t>((program_.ops.size() - 1) << kPcShift);
  program_.instructions.push_back(i);
  program_.lines.push_back(faults_.line_of(place.offset));
}

}  // namespace warpline::wls
