#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of the link.
enum class PcieMutation : std::uint8_t {
  // R5: an SM's requests of one sector take effect in their order.
  link_atomic_overtaken,  ///< a request passes an atomic that takes several round trips

  // R10: what comes over PCI Express for video memory.
  inbound_write_overtakes,      ///< a posted write goes to L2 before the last one is done
  inbound_order_per_requester,  ///< it waits for those of its own requester only
  inbound_read_overtakes,       ///< a read goes before the posted writes before it are done

  // Exactly once.
  link_swap_loses_update,  ///< a compare-and-swap loop overwrites what has changed meanwhile
};

}  // namespace warpline
