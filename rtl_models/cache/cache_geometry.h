#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/replacement.h"

namespace warpline {

/// What the key `evict_last_percent` of every cache means.
inline constexpr const char* kEvictLastMeaning = "share of its lines that evict_last may hold, percent";

/// Shape of a sectored, set-associative cache of 128-byte lines. Any number of sets works.
struct WARPLINE_PUBLIC CacheGeometry {
  unsigned sets = 64;
  unsigned ways = 4;
  unsigned evict_last_percent = 75;  ///< of all lines, at most, that evict_last may hold
  std::string replacement = "lru";   ///< which line of a class makes room: the name of a Replacement
  /// How many lines may be evict_last at once, in the cache and in one set. Below 100 percent each set keeps
  /// one line for other classes. Otherwise data that is used only once would replace evict_last lines.
  [[nodiscard]] std::uint32_t last_lines() const {
    return ways_for_last() == 0
               ? 0
               : static_cast<std::uint32_t>(std::uint64_t{sets} * ways * evict_last_percent / 100);
  }
  [[nodiscard]] unsigned ways_for_last() const { return evict_last_percent == 100 ? ways : ways - 1; }
  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(sets >= 1 && sets <= (1U << 24), "sets", "must be 1 to 16777216");
    rules.need(ways >= 1 && ways <= 1024, "ways", "must be 1 to 1024");
    rules.need(evict_last_percent <= 100, "evict_last_percent", "must be 0 to 100");
    rules.need(replacement_named(replacement).has_value(), "replacement",
               "must be \"lru\", \"pseudo_lru\" or \"random\"");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("sets", sets, "number of sets");
    f("ways", ways, "lines per set");
    f("evict_last_percent", evict_last_percent, kEvictLastMeaning);
    f("replacement", replacement, kReplacementMeaning);
  }
};

}  // namespace warpline
