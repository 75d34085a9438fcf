#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_geometry.h"
#include "rtl_models/cache/first_level_parameters.h"

namespace warpline {

/// Sizes of a cache that is only read: see ReadOnlyCache.
struct WARPLINE_PUBLIC ReadOnlyCacheParameters {
  CacheGeometry geometry{32, 4};
  unsigned miss_registers = 32;
  FirstLevelParameters first_level;  ///< of the constant cache

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.add(geometry.problems(path));
    rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
    rules.add(first_level.problems(path + ".first_level"));
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    geometry.visit(f);
    f("miss_registers", miss_registers, "lines with fetches under way");
  }
};

/// Those of the constant cache, which may have a first level.
struct WARPLINE_PUBLIC ConstantCacheParameters : ReadOnlyCacheParameters {
  template <class F>
  void visit(F&& f) {
    ReadOnlyCacheParameters::visit(f);
    f("first_level", first_level, "a small level near the SM, in front of the constant cache");
  }
};

}  // namespace warpline
