#pragma once

#include "rtl_models/base/visibility.h"

namespace warpline {

/// Prints what was violated and where, and aborts. A violated contract is our mistake, never
/// the user's, so there is nothing to recover.
WARPLINE_PUBLIC [[noreturn]] void contract_violation(const char* file, int line, const char* condition,
                                                     const char* message);

}  // namespace warpline

/// Checks a precondition or invariant in every build type.
#define WARPLINE_EXPECT(condition, message)            \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::warpline::contract_violation(__FILE__, __LINE__, #condition, message))
