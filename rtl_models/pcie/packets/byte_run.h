#pragma once

#include <cstdint>

#include "rtl_models/base/byte_mask.h"

namespace warpline {

/// Bytes side by side on the bus.
struct ByteRun {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// Calls visit(first, bytes) for each run of marked bytes of a line, in order.
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
