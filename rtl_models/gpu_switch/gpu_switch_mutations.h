#pragma once

#include <cstdint>

#include "rtl_models/base/mutation.h"

namespace warpline {

/// Deliberate bugs of a switch between GPUs.
enum class GpuSwitchMutation : std::uint8_t {
  // R3: a write is acknowledged when it is performed, in every replica.
  acknowledged_by_first_replica,  ///< a store or reduction is when the first replica has answered

  // R5: what one SM asks of one line reaches each replica in its order.
  replica_requests_overtake,  ///< what waits for a replica's port is overtaken by what comes later
};

}  // namespace warpline
