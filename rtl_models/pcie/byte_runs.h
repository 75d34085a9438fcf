#pragma once

#include "warpline/base/byte_mask.h"

namespace warpline {

/// Calls visit(first, bytes) for each run of marked bytes, in order.
template <class F>
void for_each_run(const ByteMask& mask, F&& visit) {
  for (unsigned first = 0; first < kLineBytes; ++first) {
    if (!mask.test(first)) continue;
    unsigned end = first + 1;
    while (end < kLineBytes && mask.test(end)) ++end;
    visit(first, end - first);
    first = end;
  }
}

}  // namespace warpline
