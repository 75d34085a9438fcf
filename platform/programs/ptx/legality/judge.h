#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "warpline/programs/ptx/legality/names.h"
#include "warpline/programs/ptx/legality/operands.h"

namespace warpline::ptx {

/// The PTX version and target that a module is written for.
struct Language {
  unsigned version = 60;  ///< times ten
  unsigned target = 50;   ///< the number of sm_NN
  char feature = ' ';     ///< 'a' of sm_90a, 'f' of sm_100f
};

/// A module's language; with no value, what is wrong with it.
struct LanguageOrFault {
  std::optional<Language> language;
  std::string fault;
};
/// From "7.4" and "sm_80": a target that PTX had by that version.
[[nodiscard]] LanguageOrFault language_of(unsigned version, std::string_view target);

struct Judgement {
  std::vector<Remark> faults;  ///< empty: the assembler takes it
  std::vector<Remark> notes;   ///< where the assembler and the PTX document differ
};

/// Whether the statement is one that `judge` knows.
[[nodiscard]] bool is_memory_statement(const Statement& s);
/// Whether it is one that `judge` knows and that touches memory: a mov of numbers does not.
[[nodiscard]] bool touches_memory(const Statement& s, const Names& names);
/// Every instruction name that `judge` knows.
[[nodiscard]] const std::vector<std::string>& memory_opcodes_judged();

/// Judges a memory instruction: qualifiers, their combination, operands, version and target. All faults at
/// once, in the order of their gravity. Pre: is_memory_statement(s); places are those of the statement's
/// text.
[[nodiscard]] Judgement judge(const Statement& s, const Names& names, const Language& language);

}  // namespace warpline::ptx
