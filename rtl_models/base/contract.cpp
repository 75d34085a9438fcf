#include "rtl_models/base/contract.h"

#include <cstdio>
#include <cstdlib>

namespace warpline {

void contract_violation(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "%s:%d: contract violated: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace warpline
