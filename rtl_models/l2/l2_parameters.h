#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/cache/tag_array.h"

namespace warpline {

/// Sizes of one L2 slice. Any number of slices works.
struct L2Parameters {
  unsigned slices = 4;
  CacheGeometry geometry{256, 16};
  unsigned miss_registers = 64;

  bool poison_discarded = false;  ///< bytes that were discarded read as a pattern; false: as they were

  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("slices", slices, "number of L2 slices");
    f("sets", geometry.sets, "sets of one slice");
    f("ways", geometry.ways, "lines per set");
    f("evict_last_percent", geometry.evict_last_percent, kEvictLastMeaning);
    f("miss_registers", miss_registers, "lines of one slice with fetches under way");
    f("poison_discarded", poison_discarded, "bytes of discarded lines read as a pattern");
  }
};

}  // namespace warpline
