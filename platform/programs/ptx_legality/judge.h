#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx_legality/language.h"
#include "platform/programs/ptx_legality/names.h"
#include "platform/programs/ptx_legality/operands.h"

namespace warpline::ptx {

/// What is said of one statement.
struct Legality {
  std::vector<Remark> faults;  ///< empty: the assembler takes it
  std::vector<Remark> notes;   ///< where the assembler and the PTX document differ
};

/// Whether the statement is one that `judge` knows.
[[nodiscard]] bool is_judged_statement(const Statement& s);
/// Whether it is a memory instruction that `judge` knows.
[[nodiscard]] bool is_memory_statement(const Statement& s);
/// Whether `judge` has anything to say of it: of a mov of numbers it has not.
[[nodiscard]] bool is_judged(const Statement& s, const Names& names);
/// Whether that holds and it touches memory.
[[nodiscard]] bool touches_memory(const Statement& s, const Names& names);
/// Every instruction name that `judge` knows.
[[nodiscard]] const std::vector<std::string>& memory_opcodes_judged();

/// Judges an instruction: qualifiers, their combination, operands, version and target. All faults at
/// once, in the order of their gravity. Pre: is_judged_statement(s); places are those of the statement's
/// text.
[[nodiscard]] Legality judge(const Statement& s, const Names& names, const Language& language);

/// What `judge` has against an instruction that is to be decoded; nothing of plain arithmetic, of which who
/// decodes it finds what is wrong, nor of what is_judged() says is not judged.
[[nodiscard]] std::vector<Remark> judge_to_decode(const Statement& s, const Names& names,
                                                  const Language& language);

/// Judges the special registers that a statement of whatever kind names: whether the version and the target
/// have them.
[[nodiscard]] std::vector<Remark> judge_special_registers(const Statement& s, const Names& names,
                                                          const Language& language);

/// Judges what declarations and directives say that not every version and target has.
[[nodiscard]] std::vector<Remark> judge_declarations(const ModuleDecl& module, const Language& language);

}  // namespace warpline::ptx
