#pragma once

#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// What a host bridge joins of the accesses to prefetchable memory; times in cycles of its clock.
struct WARPLINE_PUBLIC HostBridgeParameters {
  unsigned combining_buffers = 6;     ///< lines of write-combining mappings that gather stores at once
  unsigned combining_bytes = 64;      ///< bytes of one such line
  unsigned combining_cycles = 1000;   ///< after its first store a line leaves, full or not
  unsigned read_ahead = 0;            ///< bytes of the aligned block to whose end a load reads; 0: no further
  unsigned read_ahead_cycles = 1000;  ///< after which what was read ahead is dropped

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(combining_buffers >= 1 && combining_buffers <= 64, "combining_buffers",
               "must be 1 to 64 lines");
    rules.need(is_power_of_two(combining_bytes) && combining_bytes >= 16 && combining_bytes <= kLineBytes,
               "combining_bytes", "must be 16, 32, 64 or 128 bytes");
    rules.need(combining_cycles >= 1, "combining_cycles", "must be at least 1");
    rules.need(read_ahead == 0 || (is_power_of_two(read_ahead) && read_ahead >= 16 && read_ahead <= 4096),
               "read_ahead", "must be 0, or a power of two from 16 to 4096 bytes");
    rules.need(read_ahead_cycles >= 1, "read_ahead_cycles", "must be at least 1");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("combining_buffers", combining_buffers, "lines of write-combining mappings that gather stores at once");
    f("combining_bytes", combining_bytes, "of one such line, bytes");
    f("combining_cycles", combining_cycles, "after its first store such a line leaves, link cycles");
    f("read_ahead", read_ahead,
      "a load where memory is mapped write-combining reads on to the end of the aligned block of so many "
      "bytes; 0: it does not");
    f("read_ahead_cycles", read_ahead_cycles, "after which what was read ahead is dropped, link cycles");
  }
};

}  // namespace warpline
