#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx_legality/language.h"
#include "platform/programs/ptx_legality/operands.h"
#include "platform/programs/ptx_legality/rules.h"

namespace warpline::ptx {

/// One way to write an instruction, for those whose qualifiers go together as a whole rather than one by one:
/// a row of a table.
///
/// `words` are the qualifiers, without their dots, separated by blanks: "a|b" is a choice, "?" follows one
/// that may be missing, "^" comes before one that stands where the row has it; "$set" is the choice of that
/// name. The assembler takes the others in any order, but types and layouts keep theirs.
///
/// '#' in a shape is any number of columns from 8 to 256, '##' those that products of integers have.
///
/// `operands` are separated by blanks: ">" before one that is written, "*n" after a vector of n ("~n": in
/// which predicates count as 32 bits; "@n": in which each register has the type itself; "#n": of the columns
/// divided by n, with predicates, too; "*n_": of which some may be sinks), "?" after one that may be missing;
/// "a|b" takes either. A type is a register or a literal of it, "type!" a register, "type+" a wider one, too;
/// "=name" is what a `Signature` calls so; "_" a sink; "int" a literal, "int<n" one below n; "t/u" a value
/// and a predicate, "d|p".
struct Form {
  const char* words;
  const char* operands;
  unsigned version = 60;   ///< the first PTX version that has it, times ten
  unsigned target = 10;    ///< the first target
  const char* only = "";   ///< the targets that have it ("90a"), where not all from the first on
  unsigned before = 1000;  ///< the first target of which another row speaks
};

/// All forms of some opcodes.
struct FormFamily {
  const char* opcodes;  ///< separated by blanks
  const char* when;     ///< words of which one makes a statement of this family; empty: any
  const char* source;   ///< where it is written
  bool touches_memory;
  Rows<Form> forms;
  bool plain = false;  ///< arithmetic of which who decodes it says what is wrong
};

/// The family of a statement, or null.
[[nodiscard]] const FormFamily* find_forms(const Statement& s);
/// Every opcode of a family that touches memory.
[[nodiscard]] std::vector<std::string> memory_opcodes_with_forms();
/// What the assembler has against `s`; nothing where it takes it. Pre: find_forms(s) is `family`.
[[nodiscard]] std::vector<Remark> judge_forms(const FormFamily& family, const Statement& s,
                                              const Names& names, const Language& language);

/// Every family. Each file of them has some.
[[nodiscard]] std::vector<FormFamily> matrix_forms();
[[nodiscard]] std::vector<FormFamily> synchronization_forms();
[[nodiscard]] std::vector<FormFamily> arithmetic_forms();
[[nodiscard]] std::vector<FormFamily> integer_forms();
[[nodiscard]] std::vector<FormFamily> video_forms();
[[nodiscard]] std::vector<FormFamily> image_forms();

}  // namespace warpline::ptx
