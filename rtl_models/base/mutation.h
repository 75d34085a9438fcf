#pragma once

namespace warpline {

/// Deliberate bugs show that the tests would notice. A block declares its own in an enumeration beside its
/// code
/// (`l2/l2_mutations.h`), and asks where it keeps the rule that the bug breaks. Objects built with
/// WARPLINE_MUTATIONS ask their test which bug is on; in all others none is, and nothing is left of the
/// question. Only source files ask.
#ifdef WARPLINE_MUTATIONS
inline namespace with_mutations {
/// The test's: whether this bug is on.
template <class Mutation>
[[nodiscard]] bool mutated(Mutation which);
}  // namespace with_mutations
#else
inline namespace without_mutations {
template <class Mutation>
[[nodiscard]] constexpr bool mutated(Mutation) {
  return false;
}
}  // namespace without_mutations
#endif

}  // namespace warpline
