// What can be said of a program only when all of it has been read.
#include <algorithm>

#include "warpline/programs/wls/parser.h"
#include "warpline/sm/address_windows.h"

namespace warpline::wls {
namespace {

/// An exit waits for the registers that are asked for, so there is an end to them.
constexpr std::size_t kMostInspected = 16;

}  // namespace

void Parser::resolve_labels() {
  std::vector<std::string> names;
  for (const auto& [name, target] : labels_) names.push_back(name);
  for (const Pending& jump : jumps_) {
    if (faults_.full()) return;
    if (jump.op >= program_.ops.size()) continue;
    const auto found = labels_.find(jump.name.text);
    if (found == labels_.end()) {
      faults_.add(jump.name.place(), "there is no label " + ptx::quoted(jump.name.text),
                  ptx::suggestion(jump.name.text, names));
      continue;
    }
    program_.ops[jump.op].target = found->second;
  }
}

void Parser::resolve_symbols() {
  std::vector<std::string> names;
  for (const WordVariable& v : program_.variables) names.push_back(v.name);
  for (const WordParameter& p : program_.parameters) names.push_back(p.name);
  for (const Pending& use : symbols_) {
    if (faults_.full()) return;
    if (use.op >= program_.ops.size()) continue;
    Op& op = program_.ops[use.op];
    const bool load = op.code == Code::load;
    const auto same = [&use](const auto& x) { return x.name == use.name.text; };
    const auto variable = std::find_if(program_.variables.begin(), program_.variables.end(), same);
    const auto parameter = std::find_if(program_.parameters.begin(), program_.parameters.end(), same);
    if (variable != program_.variables.end() && (!load || variable->constant)) {
      op.b.symbol = static_cast<int>(variable - program_.variables.begin());
    } else if (parameter != program_.parameters.end() && load) {
      op.b.constant += static_cast<std::uint32_t>(ConstantBanks::address(
          ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset + parameter->offset));
    } else if (variable != program_.variables.end()) {
      faults_.add(use.name.place(),
                  ptx::quoted(use.name.text) + " lies in global memory: LDC reads constants",
                  "MOV its address, NAME.lo and NAME.hi, then LD.E");
    } else if (parameter != program_.parameters.end()) {
      faults_.add(use.name.place(), ptx::quoted(use.name.text) + " is a parameter",
                  "LDC Rd, c[NAME] reads it");
    } else {
      faults_.add(use.name.place(), "there is no variable " + ptx::quoted(use.name.text),
                  ptx::suggestion(use.name.text, names));
    }
  }
}

/// Data needs registers that the thread has; an address register that it has not is none (the seed on CCTL).
void Parser::check_registers() {
  program_.registers = registers_.value_or(highest_);
  if (!registers_) return;
  for (const RegisterUse& use : uses_)
    if (use.last >= *registers_)
      faults_.add(use.place,
                  "register R" + std::to_string(use.last) + " lies beyond the " +
                      std::to_string(*registers_) + " of this program",
                  "see .registers");
}

void Parser::check_inspections() {
  std::vector<unsigned>& asked = program_.inspection.registers;
  std::vector<std::string> names;
  for (const WordVariable& v : program_.variables) names.push_back(v.name);
  for (const auto& [what, place] : inspections_) {
    if (faults_.full()) return;
    if (what.is_register) {
      if (std::find(asked.begin(), asked.end(), what.reg) != asked.end()) continue;
      asked.push_back(what.reg);
      if (asked.size() > kMostInspected)
        faults_.add(place, "16 registers can be shown or checked, no more",
                    "store them into a .global variable");
      continue;
    }
    const auto found = std::find_if(program_.variables.begin(), program_.variables.end(),
                                    [&what = what](const WordVariable& v) { return v.name == what.name; });
    if (found == program_.variables.end()) {
      faults_.add(place, "there is no variable " + ptx::quoted(what.name), ptx::suggestion(what.name, names));
    } else if (found->constant) {
      faults_.add(place, "a kernel cannot write constant memory: there is nothing to see");
    } else if (!what.whole && what.last >= found->words.size()) {
      faults_.add(place,
                  ptx::quoted(what.name) + " has words 0 to " + std::to_string(found->words.size() - 1));
    }
  }
}

void Parser::finish() {
  // Whoever runs on to the end of the text, or returns there, has reached its end.
  Statement last;
  last.op.code = Code::exit;
  append(last, {static_cast<std::uint32_t>(text_.size()), 1});
  resolve_labels();
  resolve_symbols();
  check_registers();
  check_inspections();
  if (program_.ops.size() == 1 && faults_.empty()) faults_.add({}, "this program has no instruction");
  if (!faults_.empty()) return;
  for (std::size_t n = 0; n < program_.ops.size(); ++n) {
    Instruction& i = program_.instructions[n];
    lower(program_.ops[n], program_.registers, program_.inspection.registers, i);
    program_.calls |= i.kind >= InstructionKind::call && i.kind <= InstructionKind::flush_stack;
  }
}

}  // namespace warpline::wls
