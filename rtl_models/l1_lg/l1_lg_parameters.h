#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_geometry.h"

namespace warpline {

/// Sizes of an L1 local/global cache.
struct WARPLINE_PUBLIC L1LgParameters {
  CacheGeometry geometry{64, 4};
  unsigned miss_registers = 64;
  unsigned outgoing = 64;       ///< requests queued towards the crossbar
  bool update_on_store = true;  ///< a store updates a present global line; false: drops it

  /// Whether dirty bytes that were dropped after a last use (`ld.lu`) read as a pattern afterwards; false: as
  /// they were.
  bool poison_last_use = false;

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.add(geometry.problems(path));
    rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
    rules.need(outgoing >= 2 && outgoing <= 65536, "outgoing", "must be 2 to 65536");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    geometry.visit(f);
    f("miss_registers", miss_registers, "lines with fetches under way");
    f("outgoing", outgoing, "requests queued towards the crossbar");
    f("update_on_store", update_on_store, "a store updates a present global line instead of dropping it");
    f("poison_last_use", poison_last_use, "bytes that were last used and given up read as a pattern");
  }
};

}  // namespace warpline
