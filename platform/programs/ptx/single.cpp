#include "platform/programs/ptx/single.h"

#include <map>
#include <string>
#include <vector>

#include "platform/programs/ptx/decoder.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx_legality/judge.h"
#include "platform/programs/ptx_legality/preamble.h"
#include "platform/programs/ptx_syntax/parser.h"

namespace warpline::ptx {
namespace {

/// The target of the preamble with all that its architecture has of its own.
constexpr std::string_view kLatestTarget = "sm_100a";

/// Replaces undeclared names by registers of the preamble, equal names by the same register.
class Namer {
 public:
  Namer(const Statement& s, const Names& names) : statement_(s), names_(names) {
    for (const Token& q : s.qualifiers) {
      if (const DataType t = data_type_from(q.text.substr(1)); t != DataType::none) type_ = t;
      hinted_ = hinted_ || q.is(".L2::cache_hint");
    }
  }

  void name_all(std::vector<Operand>& operands) {
    for (std::size_t n = 0; n < operands.size(); ++n) name(operands[n], family_of(n, operands.size()));
  }

 private:
  /// What a register at operand `n` of `count` has to be.
  [[nodiscard]] const char* family_of(std::size_t n, std::size_t count) const {
    if (hinted_ && n + 1 == count) return "%rd";  // the policy
    if (statement_.opcode.is("isspacep")) return n == 0 ? "%p" : "%rd";
    if (statement_.opcode.is("createpolicy") && n > 0) {
      const bool fraction = !statement_.qualifiers.empty() && statement_.qualifiers[0].is(".fractional");
      return fraction ? "%f" : n > 1 ? "%r" : "%rd";
    }
    if (type_ == DataType::f32) return "%f";
    if (type_ == DataType::f64) return "%fd";
    switch (size_of(type_)) {
      case 2: return "%h";
      case 8: return "%rd";
      case 16: return "%q";
      default: return "%r";
    }
  }

  void name(Operand& o, const char* family) {
    for (Operand& e : o.elements) name(e, family);
    if (o.name.empty() || names_.find(o.name).kind != Meaning::Kind::nothing) return;
    if (o.kind == Operand::Kind::address) family = "%rd";
    const auto [known, fresh] = given_.emplace(o.name, std::string());
    // The first registers of a family are left to those who write them out; of some there are few.
    const bool few = family[1] == 'q' || family[1] == 'p';
    if (fresh) known->second = family + std::to_string((few ? 0 : 10) + next_++);
    o.name = known->second;
  }

  const Statement& statement_;
  const Names& names_;
  DataType type_ = DataType::b32;
  bool hinted_ = false;
  unsigned next_ = 0;
  std::map<std::string, std::string> given_;
};

}  // namespace

Result<SingleInstruction> read_single(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (!text.empty() && text.back() != ';') text += ';';
  FaultList faults(text, "instruction");
  std::optional<Statement> s = parse_statement(text, faults);
  if (!s || !faults.empty()) return faults.take();
  if (!is_memory_statement(*s)) {
    faults.add(s->opcode.place(), quoted(s->opcode.text) + " is no memory instruction",
               suggestion(s->opcode.text, memory_opcodes_judged()));
    return faults.take();
  }
  ModuleDecl module = parse_preamble(false);
  module.target = kLatestTarget;
  FunctionDecl& function = *module.functions[0];
  s->scope = kPreambleScope;
  const Names names(module, function, kPreambleScope);
  if (!s->guard.empty() && names.find(s->guard).kind == Meaning::Kind::nothing) s->guard = "%p3";
  Namer(*s, names).name_all(s->operands);
  // What has no decoder is judged here, all else as it is decoded.
  if (find_opcode(s->opcode.text) == nullptr) {
    const Language latest = language_of(module.version, module.target).language.value_or(Language{});
    for (const Remark& r : judge(*s, names, latest).faults) faults.add(r.place, r.message, r.hint);
    if (faults.empty())
      faults.add(s->opcode.place(), quoted(s->opcode.text) + " is not modelled in this version");
    return faults.take();
  }
  function.statements = {*s};
  SingleInstruction out;
  const Program program = Decoder(module, faults, faults).decode(function);
  if (!faults.empty()) return faults.take();
  for (const Instruction& i : program.instructions)
    if (i.kind == InstructionKind::memory || i.kind == InstructionKind::fence) out.op = i.mem;
  return out;
}

}  // namespace warpline::ptx
