#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_geometry.h"

namespace warpline {

/// Sizes of an L1 local/global cache.
struct WARPLINE_PUBLIC L1LgParameters {
  CacheGeometry geometry{64, 4};
  unsigned miss_registers = 64;
  unsigned outgoing = 64;       ///< requests queued towards the crossbar
  bool update_on_store = true;  ///< a store updates a present global line; false: drops it

  /// What shared memory may take of this storage, KiB, in ascending order: a kernel's is chosen when a
  /// platform starts it (`carveout_for`), and L1 has the sets that are left. None: shared memory lies
  /// elsewhere.
  std::vector<std::uint64_t> carveouts;

  /// Whether dirty bytes that were dropped after a last use (`ld.lu`) read as a pattern afterwards; false: as
  /// they were.
  bool poison_last_use = false;

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.add(geometry.problems(path));
    rules.need(miss_registers >= 1 && miss_registers <= 65534, "miss_registers", "must be 1 to 65534");
    const std::uint64_t set_bytes = std::uint64_t{geometry.ways} * kLineBytes;
    const std::uint64_t storage = geometry.sets * set_bytes;
    rules.need(std::all_of(carveouts.begin(), carveouts.end(),
                           [&](std::uint64_t kib) {
                             return kib < (storage >> 10U) && (storage - (kib << 10U)) % set_bytes == 0;
                           }),
               "carveouts",
               "must leave L1 one whole set (ways x 128 bytes) or more of sets x ways x 128 bytes");
    rules.need(std::adjacent_find(carveouts.begin(), carveouts.end(),
                                  [](std::uint64_t a, std::uint64_t b) { return a >= b; }) == carveouts.end(),
               "carveouts", "must be in ascending order");
    rules.need(outgoing >= 2 && outgoing <= 65536, "outgoing", "must be 2 to 65536");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    geometry.visit(f);
    f("miss_registers", miss_registers, "lines with fetches under way");
    f("outgoing", outgoing, "requests queued towards the crossbar");
    f("update_on_store", update_on_store, "a store updates a present global line instead of dropping it");
    f("carveouts", carveouts,
      "what shared memory may take of L1's sets x ways x 128 bytes, KiB: a kernel gets the least that "
      "does not lower its occupancy, or what it prefers; none: shared memory lies elsewhere");
    f("poison_last_use", poison_last_use, "bytes that were last used and given up read as a pattern");
  }
};

}  // namespace warpline
