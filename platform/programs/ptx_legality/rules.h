#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/programs/ptx_legality/language.h"

namespace warpline::ptx {

enum class Verb : std::uint8_t {
  takes,     ///< the instruction may have these words
  pairs,     ///< it may have two words of these slots; the second is "2nd:word"
  needs,     ///< where the condition holds, one of these words must be there
  excludes,  ///< where the condition holds, none of these words may be there
  since,     ///< where the condition holds, the module must be for this version and target or later
  differs,   ///< the assembler accepts it, the PTX document does not: a note
};

/// One rule of the language, as a row of a table.
///
/// A condition is a list of clauses, separated by blanks, that must all hold: "a" (the statement has a),
/// "a|b" (it has either), "!a" (it has not). Names are words of the vocabulary, facts, slots or sets.
struct Rule {
  const char* on;    ///< instructions, separated by blanks
  const char* when;  ///< condition; always, where empty
  Verb verb;
  const char* what;    ///< names, separated by '|'
  Minimum minimum;     ///< `since`
  const char* source;  ///< where it is written, or who was asked
};

/// The operands of an instruction where a condition holds, separated by blanks; '?' follows one that may be
/// missing. `operands.cpp` says what each name takes.
struct Signature {
  const char* on;
  const char* when;
  const char* operands;
  const char* source;
};

constexpr Rule takes(const char* on, const char* what, const char* source) {
  return {on, "", Verb::takes, what, {}, source};
}
constexpr Rule pairs(const char* on, const char* what, const char* source) {
  return {on, "", Verb::pairs, what, {}, source};
}
constexpr Rule needs(const char* on, const char* when, const char* what, const char* source) {
  return {on, when, Verb::needs, what, {}, source};
}
constexpr Rule excludes(const char* on, const char* when, const char* what, const char* source) {
  return {on, when, Verb::excludes, what, {}, source};
}
constexpr Rule since(const char* on, const char* when, unsigned version, unsigned target,
                     const char* source) {
  return {on, when, Verb::since, "", {version, target}, source};
}
constexpr Rule differs(const char* on, const char* when, const char* what, const char* source) {
  return {on, when, Verb::differs, what, {}, source};
}

/// An instruction: its opcode, and the qualifiers that make it another one than the bare opcode. They follow
/// the opcode in this order, unless they may stand anywhere. Of those that fit a statement, the one with most
/// is meant.
struct InstructionName {
  const char* name;  ///< in rules and diagnostics
  const char* opcode;
  const char* words;
  bool anywhere = false;
};

template <class T>
struct Rows {
  const T* first = nullptr;
  std::size_t count = 0;
  constexpr Rows() = default;
  template <std::size_t N>
  constexpr Rows(const T (&rows)[N]) : first(rows), count(N) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const T* begin() const { return first; }
  [[nodiscard]] const T* end() const { return first + count; }
};

/// A family of instructions.
struct Chapter {
  Rows<InstructionName> names;
  Rows<Rule> rules;
  Rows<Signature> signatures;
};

// Each in the file of its name.
[[nodiscard]] Chapter load_store_chapter();
[[nodiscard]] Chapter atomic_chapter();
[[nodiscard]] Chapter fence_chapter();
[[nodiscard]] Chapter hint_chapter();
[[nodiscard]] Chapter address_chapter();
[[nodiscard]] Chapter async_chapter();
[[nodiscard]] Chapter bulk_chapter();
[[nodiscard]] Chapter texture_chapter();

}  // namespace warpline::ptx
