#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/programs/ptx_legality/judge.h"
#include "platform/programs/ptx_legality/rule_book.h"

namespace warpline::ptx {

/// Puts the judgements on one statement into words, and finds the place that each is about.
class Wording {
 public:
  /// Pre: `s` outlives it.
  explicit Wording(const Statement& s) : s_(s) {}

  /// Word `w` of the statement stands at `q`.
  void place(Word w, const Token& q) { places_.emplace_back(w, q.place()); }
  void place(Word w, Place p) { places_.emplace_back(w, p); }
  [[nodiscard]] Place place_of_first(const WordSet& words) const;
  /// Of the last word that makes the rule hold, or the opcode.
  [[nodiscard]] Place place_of(const CompiledRule& r, const WordSet& words) const;

  [[nodiscard]] std::string did_you_mean(const Token& q, const WordSet& taken) const;
  [[nodiscard]] std::string not_taken(const InstructionName& i, const Token& q, const WordSet& taken) const;
  /// What the instruction takes in place of `q`.
  [[nodiscard]] std::string instead(const Token& q, const WordSet& taken) const;
  [[nodiscard]] std::string too_many(const Token& q, Slot slot) const;
  [[nodiscard]] std::string missing(const InstructionName& i, const CompiledRule& r,
                                    const WordSet& words) const;
  [[nodiscard]] std::string conflict(const InstructionName& i, const CompiledRule& r,
                                     const WordSet& words) const;
  [[nodiscard]] std::string too_early(const InstructionName& i, const CompiledRule& r, const WordSet& words,
                                      const Language& language) const;
  [[nodiscard]] std::string difference(const CompiledRule& r) const;
  [[nodiscard]] std::string wrong_count(const InstructionName& i, const CompiledSignature& c,
                                        std::size_t count) const;
  [[nodiscard]] std::string other_form(const CompiledSignature& c) const;

 private:
  /// The words of the statement that make the rule hold: "'.mmio' and '.b128'"; or the instruction.
  [[nodiscard]] std::string subject(const InstructionName& i, const CompiledRule& r,
                                    const WordSet& words) const;
  const Statement& s_;
  std::vector<std::pair<Word, Place>> places_;
};

}  // namespace warpline::ptx
