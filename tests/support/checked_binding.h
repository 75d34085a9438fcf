#pragma once

#include "tests/support/protocol_checker.h"

namespace warpline::test {

/// A checker of the base protocol that stays for as long as the process does. What it has to say fails the
/// test that is under way when all tests of the process have run; transactions in flight by then are left
/// out, since tests of what is stuck leave some.
[[nodiscard]] ProtocolChecker& lasting_checker();

/// Binds an initiator's socket to a target's, a lasting checker between.
/// Returns it.
template <class Initiator, class Target>
ProtocolChecker& bind_checked(Initiator& initiator, Target& target) {
  ProtocolChecker& checker = lasting_checker();
  initiator.bind(checker.from_initiator);
  checker.to_target.bind(target);
  return checker;
}

}  // namespace warpline::test
