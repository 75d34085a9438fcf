#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_geometry.h"

namespace warpline {

/// Sizes of one L2 slice. Any number of slices works.
struct WARPLINE_PUBLIC L2Parameters {
  unsigned slices = 4;
  CacheGeometry geometry{256, 16};
  unsigned miss_registers = 64;
  /// Bit of the line number at which the slice number begins (CrossbarParameters::slice_shift, which whoever
  /// builds the netlist copies): a line's set is told by the other bits.
  unsigned slice_shift = 0;

  bool poison_discarded = false;  ///< bytes that were discarded read as a pattern; false: as they were

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(slices >= 1 && slices <= 4096, "slices", "must be 1 to 4096");
    rules.add(geometry.problems(path));
    rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("slices", slices, "number of L2 slices");
    f("sets", geometry.sets, "sets of one slice");
    f("ways", geometry.ways, "lines per set");
    f("evict_last_percent", geometry.evict_last_percent, kEvictLastMeaning);
    f("replacement", geometry.replacement, kReplacementMeaning);
    f("miss_registers", miss_registers, "lines of one slice with fetches under way");
    f("poison_discarded", poison_discarded, "bytes of discarded lines read as a pattern");
  }
};

}  // namespace warpline
