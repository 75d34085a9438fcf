#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/ptx_legality/rules.h"
#include "platform/programs/ptx_legality/vocabulary.h"

namespace warpline::ptx {

/// One clause of a condition.
struct Clause {
  WordSet any;
  bool negated = false;
  [[nodiscard]] bool holds(const WordSet& words) const { return (words & any).any() != negated; }
};
using Condition = std::vector<Clause>;
[[nodiscard]] inline bool holds(const Condition& condition, const WordSet& words) {
  for (const Clause& c : condition)
    if (!c.holds(words)) return false;
  return true;
}

/// A rule with its names looked up.
struct CompiledRule {
  const Rule* row = nullptr;
  Condition when;
  WordSet what;
};
struct CompiledSignature {
  const Signature* row = nullptr;
  Condition when;
  std::vector<std::string_view> operands;
  [[nodiscard]] std::size_t least() const;  ///< operands that must be there
};

/// All that the chapters say of one instruction.
struct InstructionRules {
  const InstructionName* name = nullptr;
  std::vector<Word> words;  ///< that make it what it is
  WordSet taken;
  std::vector<Slot> paired;
  std::vector<CompiledRule> rules;  ///< all but `takes` and `pairs`
  std::vector<CompiledSignature> signatures;
};

/// The instruction that an opcode and its qualifiers name, or null. Nothing stands for a qualifier that is no
/// word.
[[nodiscard]] const InstructionRules* find_instruction(std::string_view opcode,
                                                       const std::vector<std::optional<Word>>& words);
/// Whether an opcode has a chapter.
[[nodiscard]] bool is_judged(std::string_view opcode);
/// Every opcode with a chapter.
[[nodiscard]] const std::vector<std::string>& judged_opcodes();

}  // namespace warpline::ptx
