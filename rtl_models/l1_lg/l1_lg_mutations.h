#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of L1.
enum class L1LgMutation : std::uint8_t {
  // R1: a store, strong load, atomic or reduction kills what L1 has of a line, fills in flight included.
  store_keeps_line,         ///< a store leaves the old bytes
  store_spares_fill,        ///< the fill in flight for a store's line is installed
  strong_load_keeps_line,   ///< a load beyond the CTA leaves the line, which may be older
  strong_load_spares_fill,  ///< and the fill in flight
  atomic_keeps_line,        ///< an atomic leaves the line
  reduction_keeps_line,     ///< a reduction leaves it

  // R3: the SM's writes are acknowledged before a release.
  reduction_unacknowledged,  ///< a release does not wait for reductions

  // R5: an SM's requests of one sector arrive in their order.
  read_overtakes,   ///< a read leaves L1 before what waits to
  write_overtakes,  ///< likewise a write
};

}  // namespace warpline
