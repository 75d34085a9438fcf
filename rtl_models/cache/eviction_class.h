#pragma once

#include <cstdint>

#include "rtl_models/sim/request.h"

namespace warpline {

/// Eviction class of a line, in victim order (after invalid lines).
enum class EvictionClass : std::uint8_t { first, normal, last };

/// The class of a line that is installed for an access of this priority.
constexpr EvictionClass class_of(EvictionPriority p) {
  return p == EvictionPriority::first  ? EvictionClass::first
         : p == EvictionPriority::last ? EvictionClass::last
                                       : EvictionClass::normal;
}

/// Whether an access of this priority gives its class to a line that is there already.
constexpr bool names_class(EvictionPriority p) {
  return p >= EvictionPriority::first;
}

/// The priority of a fill that two accesses wait for, in their order: what the line would have become
/// had the later one found it.
constexpr EvictionPriority joined(EvictionPriority earlier, EvictionPriority later) {
  return names_class(later) || later > earlier ? later : earlier;
}

}  // namespace warpline
