#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_geometry.h"

namespace warpline {

/// Sizes of a cache that is only read: see ReadOnlyCache.
struct WARPLINE_PUBLIC ReadOnlyCacheParameters {
  CacheGeometry geometry{32, 4};
  unsigned miss_registers = 32;

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.add(geometry.problems(path));
    rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    geometry.visit(f);
    f("miss_registers", miss_registers, "lines with fetches under way");
  }
};

}  // namespace warpline
