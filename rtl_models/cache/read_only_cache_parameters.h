#pragma once

#include <string>

#include "warpline/base/problem.h"
#include "warpline/cache/tag_array.h"

namespace warpline {

/// Sizes of a cache that is only read: texture/non-coherent and constant caches.
struct ReadOnlyCacheParameters {
  CacheGeometry geometry{32, 4};
  unsigned miss_registers = 32;

  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("sets", geometry.sets, "number of sets");
    f("ways", geometry.ways, "lines per set");
    f("evict_last_percent", geometry.evict_last_percent, kEvictLastMeaning);
    f("miss_registers", miss_registers, "lines with fetches under way");
  }
};

}  // namespace warpline
