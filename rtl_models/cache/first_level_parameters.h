#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// A small level in front of a cache that is only read. It has tags alone: its data is the cache's.
struct WARPLINE_PUBLIC FirstLevelParameters {
  unsigned bytes = 0;         ///< 0: there is none
  unsigned block_bytes = 64;  ///< of its lines, which are fetched whole
  unsigned next_latency = 0;  ///< cycles that a look-up takes longer which goes on to the cache behind it

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    const bool whole = block_bytes == 32 || block_bytes == 64 || block_bytes == 128;
    rules.need(whole, "block_bytes", "must be 32, 64 or 128");
    rules.need(bytes <= 65536 && (!whole || bytes % block_bytes == 0), "bytes",
               "must be a multiple of block_bytes, at most 65536");
    rules.need(next_latency <= 10000, "next_latency", "must be at most 10000 cycles");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("bytes", bytes,
      "size of the first level, fully associative, of which the least recently used block makes room; 0: "
      "there is none");
    f("block_bytes", block_bytes, "bytes of a block of it, which is fetched whole");
    f("next_latency", next_latency,
      "by which a look-up takes longer that goes on to the level behind it, SM cycles");
  }
};

}  // namespace warpline
