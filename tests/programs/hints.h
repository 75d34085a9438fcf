#pragma once

#include <string>

#include "tests/programs/program.h"

namespace warpline::test {

/// What a statement may be told beside what it does, so that no result depends on it (PTX ISA, "Cache
/// Operators", "Cache Eviction Priority Hints").
struct Hints {
  std::string qualifiers;
  std::string policy;  ///< operand of `.L2::cache_hint`; empty without
};

/// What is to be given hints.
struct Hinted {
  bool load = false;
  bool store = false;
  bool atomic = false;             ///< and reductions; no compare-and-swap
  bool takes_l1_priority = false;  ///< no cache operator, not volatile
  bool takes_policy = false;       ///< not volatile, every lane global
  bool takes_prefetch = false;     ///< a load, every lane global
  bool wide = false;               ///< 32 bytes: takes a priority at L2
};

[[nodiscard]] Hints random_hints(Random& random, const Hinted& what);
/// The policies that a kernel's prologue makes: registers %pol0 to %pol5, from the vidmem address in %b0.
[[nodiscard]] std::string policy_prologue();
/// An instruction that is nothing but a hint: "prefetch.global.L1".
[[nodiscard]] std::string random_hint_instruction(Random& random, Area area, bool generic);

/// The same program without any hint: cache operators, priorities, policies, prefetches.
[[nodiscard]] Program without_hints(Program program);

}  // namespace warpline::test
