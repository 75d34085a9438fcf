#include <algorithm>
#include <array>

#include "warpline/litmus/parser_state.h"

namespace warpline::litmus {
namespace {

struct Branch {
  std::string_view word;
  Comparison comparison;
};
constexpr std::array<Branch, 6> kBranches = {{{"beq", Comparison::equal},
                                              {"bne", Comparison::not_equal},
                                              {"blt", Comparison::less},
                                              {"ble", Comparison::less_equal},
                                              {"bgt", Comparison::greater},
                                              {"bge", Comparison::greater_equal}}};

}  // namespace

bool Parser::instruction(Thread& thread) {
  const Token opcode = take();
  if (opcode.kind != TokenKind::word) return fail(opcode, "an instruction is missing");
  Instruction i;
  i.text = opcode.text;
  const std::string_view base = opcode.text.substr(0, opcode.text.find('.'));
  const std::size_t first = at_;
  bool good = false;
  if (base == "bar" || base == "barrier") {
    good = barrier(i, thread, opcode);
  } else if (base == "goto" || std::any_of(kBranches.begin(), kBranches.end(),
                                           [&](const Branch& b) { return b.word == base; })) {
    good = branch(i, thread, opcode);
  } else if (opcode.is("mov") || opcode.is("add") || opcode.is("sub")) {
    i.kind = opcode.is("mov")   ? InstructionKind::move
             : opcode.is("add") ? InstructionKind::add
                                : InstructionKind::subtract;
    good = arithmetic(i, thread);
  } else {
    const auto op = operation_of(opcode, i, faults_);
    if (!op) return false;
    i.op = *op;
    good = i.kind == InstructionKind::fence || access(i, thread);
  }
  for (std::size_t n = first; n < at_; ++n)
    i.text += (n == first || tokens_[n - 1].is(",") ? " " : "") + std::string(tokens_[n].text);
  if (good) thread.code.push_back(std::move(i));
  return good;
}

bool Parser::operand(Operand& o, Thread& thread) {
  if (peek().kind == TokenKind::word) {
    o.is_register = true;
    o.number = register_named(thread, take().text);
    return true;
  }
  const auto value = number();
  o.value = value.value_or(0);
  return value.has_value();
}

bool Parser::destination(Instruction& i, Thread& thread) {
  const Token& name = take();
  if (name.kind != TokenKind::word) return fail(name, "the register that it writes is missing");
  i.destination = register_named(thread, name.text);
  return true;
}

bool Parser::arithmetic(Instruction& i, Thread& thread) {
  if (!destination(i, thread) || !expect(",") || !operand(i.a, thread)) return false;
  return i.kind == InstructionKind::move || (expect(",") && operand(i.b, thread));
}

/// "x", "x+4" or "[x+4]". By which proxy it is reached, the opcode says.
bool Parser::address(Instruction& i) {
  const bool bracket = accept("[");
  const Token name = take();
  if (name.kind != TokenKind::word) return fail(name, "a location is missing");
  i.location = location_named(name.text);
  if (accept("+")) {
    const auto offset = number();
    if (!offset) return false;
    if (*offset < 0 || *offset > Test::kBytes - i.bytes() || *offset % i.bytes() != 0)
      return fail(name, "an access lies in the 8 bytes of its location, aligned to its size");
    i.offset = static_cast<std::uint32_t>(*offset);
  }
  if (bracket && !expect("]")) return false;
  const Location& l = test_->locations[i.location];
  if (l.home == Home::shared) {
    if (i.op.space == Space::global || i.op.is_mmio || i.op.proxy != Proxy::generic)
      return fail(name, ptx::quoted(name.text) + " lies in shared memory");
    i.op.space = Space::shared;
  } else if (i.op.space == Space::shared) {
    return fail(name, ptx::quoted(name.text) + " does not lie in shared memory",
                "declare it: \"" + std::string(name.text) + " @ shared;\"");
  }
  return true;
}

bool Parser::access(Instruction& i, Thread& thread) {
  if (i.kind == InstructionKind::cache_control && !i.op.controls_lines()) return true;
  if (i.op.reads() && (!destination(i, thread) || !expect(","))) return false;
  if (!address(i)) return false;
  if (i.op.writes() && (!expect(",") || !operand(i.a, thread))) return false;
  return i.op.atomic != AtomicOperation::compare_and_swap || (expect(",") && operand(i.b, thread));
}

/// `bar.cta.sync id`, `bar.cta.sync instance, id` or `bar.cta.sync instance, id, threads`. Which instance
/// of the instruction it is means nothing to hardware: barriers meet by their id.
bool Parser::barrier(Instruction& i, Thread& thread, const Token& opcode) {
  i.kind = InstructionKind::barrier;
  const std::string_view rest = opcode.text.substr(std::min(opcode.text.find('.'), opcode.text.size()));
  i.waits = rest == ".sync" || rest == ".cta.sync";
  if (!i.waits && rest != ".arrive" && rest != ".cta.arrive")
    return fail(opcode, ptx::quoted(opcode.text) + " is no barrier", "bar.cta.sync or bar.cta.arrive");
  const Token first = peek();
  if (!operand(i.a, thread)) return false;
  if (accept(",") && !operand(i.a, thread)) return false;
  if (accept(",")) {
    i.counts = true;
    if (!operand(i.b, thread)) return false;
  }
  constexpr std::int64_t kBarriers = 16;
  if (!i.a.is_register && (i.a.value < 0 || i.a.value >= kBarriers))
    return fail(first, "a CTA has barriers 0 to 15");
  if (i.counts && !i.b.is_register && (i.b.value < 1 || i.b.value > kBarriers * 2))
    return fail(first, "1 to 32 threads meet at a barrier");
  return true;
}

bool Parser::branch(Instruction& i, Thread& thread, const Token& opcode) {
  i.kind = InstructionKind::jump;
  for (const Branch& b : kBranches) {
    if (!opcode.is(b.word)) continue;
    i.kind = InstructionKind::branch;
    i.comparison = b.comparison;
    if (!operand(i.a, thread) || !expect(",") || !operand(i.b, thread) || !expect(",")) return false;
  }
  const Token label = take();
  if (label.kind != TokenKind::word) return fail(label, "a label is missing");
  jumps_.push_back({thread_, static_cast<unsigned>(thread.code.size()), label});
  return true;
}

}  // namespace warpline::litmus
