#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rtl_models/base/visibility.h"

namespace warpline::litmus {

/// What a condition compares: a constant, a register at the end of its thread, or what memory holds at the
/// end.
struct WARPLINE_PUBLIC Term {
  enum class Kind : std::uint8_t { constant, reg, location };
  Kind kind = Kind::constant;
  std::int64_t value = 0;
  unsigned thread = 0;
  unsigned number = 0;  ///< of the register in its thread, or of the location
  friend bool operator==(const Term& a, const Term& b) {
    return a.kind == b.kind && a.value == b.value && a.thread == b.thread && a.number == b.number;
  }
};

/// What a term is at the end of an execution.
using ValueOf = std::function<std::int64_t(const Term&)>;

/// A proposition on the end of an execution.
struct WARPLINE_PUBLIC Proposition {
  enum class Kind : std::uint8_t { equal, not_equal, conjunction, disjunction, negation };
  Kind kind = Kind::equal;
  Term left, right;                ///< of a comparison
  std::vector<Proposition> parts;  ///< of the others
};

/// What a test asks.
struct WARPLINE_PUBLIC Condition {
  enum class Kind : std::uint8_t { exists, not_exists, forall };
  Kind kind = Kind::exists;
  Proposition proposition;
  std::string text;  ///< of the proposition, as written

  /// "exists", "~exists" or "forall".
  [[nodiscard]] const char* kind_name() const;
  /// Every register and location that it names, once.
  [[nodiscard]] std::vector<Term> terms() const;
  /// Whether an end in which terms have these values is the outcome in question: one that satisfies an
  /// `exists` or `~exists` condition, or violates a `forall` one.
  [[nodiscard]] bool in_question(const ValueOf& value_of) const;
};

}  // namespace warpline::litmus
