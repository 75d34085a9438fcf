#include "platform/programs/wls/draft.h"

#include <algorithm>

#include "platform/programs/wls/lower.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::wls {
namespace {

/// An exit waits for the registers that are asked for, so there is an end to them.
constexpr std::size_t kMostInspected = 16;

}  // namespace

void Draft::append(const Op& op, Instruction instruction, unsigned line) {
  program.ops.push_back(op);
  instruction.pc = static_cast<std::uint32_t>((program.ops.size() - 1) << kPcShift);
  program.instructions.push_back(instruction);
  program.lines.push_back(line);
}

void Draft::note_register(unsigned reg, Place place) {
  highest = std::max(highest, reg + 1);
  uses.push_back({reg, place});
}

void Draft::drop_pending() {
  const auto of_it = [this](const Pending& p) { return p.op == program.ops.size(); };
  jumps.erase(std::remove_if(jumps.begin(), jumps.end(), of_it), jumps.end());
  symbols.erase(std::remove_if(symbols.begin(), symbols.end(), of_it), symbols.end());
}

void Draft::resolve_labels(FaultList& faults) {
  std::vector<std::string> names;
  for (const auto& [name, target] : labels) names.push_back(name);
  for (const Pending& jump : jumps) {
    if (faults.full()) return;
    if (jump.op >= program.ops.size()) continue;
    const auto found = labels.find(jump.name.text);
    if (found == labels.end()) {
      faults.add(jump.name.place(), "there is no label " + text::quoted(jump.name.text),
                 text::suggestion(jump.name.text, names));
      continue;
    }
    program.ops[jump.op].target = found->second;
  }
}

void Draft::resolve_symbols(FaultList& faults) {
  std::vector<std::string> names;
  for (const WordVariable& v : program.variables) names.push_back(v.name);
  for (const WordParameter& p : program.parameters) names.push_back(p.name);
  for (const Pending& use : symbols) {
    if (faults.full()) return;
    if (use.op >= program.ops.size()) continue;
    Op& op = program.ops[use.op];
    const bool load = op.code == Code::load;
    const auto same = [&use](const auto& x) { return x.name == use.name.text; };
    const auto variable = std::find_if(program.variables.begin(), program.variables.end(), same);
    const auto parameter = std::find_if(program.parameters.begin(), program.parameters.end(), same);
    if (variable != program.variables.end() && (!load || variable->constant)) {
      op.b.symbol = static_cast<int>(variable - program.variables.begin());
    } else if (parameter != program.parameters.end() && load) {
      op.b.constant += static_cast<std::uint32_t>(ConstantBanks::address(
          ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset + parameter->offset));
    } else if (variable != program.variables.end()) {
      faults.add(use.name.place(),
                 text::quoted(use.name.text) + " lies in global memory: LDC reads constants",
                 "MOV its address, NAME.lo and NAME.hi, then LD.E");
    } else if (parameter != program.parameters.end()) {
      faults.add(use.name.place(), text::quoted(use.name.text) + " is a parameter",
                 "LDC Rd, c[NAME] reads it");
    } else {
      faults.add(use.name.place(), "there is no variable " + text::quoted(use.name.text),
                 text::suggestion(use.name.text, names));
    }
  }
}

/// Data needs registers that the thread has; an address register that it has not is none (SASS, CCTL).
void Draft::check_registers(FaultList& faults) {
  program.registers = registers.value_or(highest);
  if (!registers) return;
  for (const RegisterUse& use : uses)
    if (use.last >= *registers)
      faults.add(use.place,
                 "register R" + std::to_string(use.last) + " lies beyond the " + std::to_string(*registers) +
                     " of this program",
                 "see .registers");
}

void Draft::check_inspections(FaultList& faults) {
  std::vector<unsigned>& asked = program.inspection.registers;
  std::vector<std::string> names;
  for (const WordVariable& v : program.variables) names.push_back(v.name);
  for (const auto& [what, place] : inspections) {
    if (faults.full()) return;
    if (what.is_register) {
      if (std::find(asked.begin(), asked.end(), what.reg) != asked.end()) continue;
      asked.push_back(what.reg);
      if (asked.size() > kMostInspected)
        faults.add(place, "16 registers can be shown or checked, no more",
                   "store them into a .global variable");
      continue;
    }
    const auto found = std::find_if(program.variables.begin(), program.variables.end(),
                                    [&name = what.name](const WordVariable& v) { return v.name == name; });
    if (found == program.variables.end()) {
      faults.add(place, "there is no variable " + text::quoted(what.name),
                 text::suggestion(what.name, names));
    } else if (found->constant) {
      faults.add(place, "a kernel cannot write constant memory: there is nothing to see");
    } else if (!what.whole && what.last >= found->words.size()) {
      faults.add(place,
                 text::quoted(what.name) + " has words 0 to " + std::to_string(found->words.size() - 1));
    }
  }
}

void Draft::complete(FaultList& faults) {
  resolve_labels(faults);
  resolve_symbols(faults);
  check_registers(faults);
  check_inspections(faults);
  if (program.ops.size() == 1 && faults.empty()) faults.add({}, "this program has no instruction");
  if (!faults.empty()) return;
  for (std::size_t n = 0; n < program.ops.size(); ++n) {
    Instruction& i = program.instructions[n];
    lower(program.ops[n], program.registers, program.inspection.registers, i);
    program.calls |= i.kind >= InstructionKind::call && i.kind <= InstructionKind::flush_stack;
  }
}

}  // namespace warpline::wls
