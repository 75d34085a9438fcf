#pragma once

#include <cstdint>

#include "rtl_models/sim/request.h"
#include "rtl_models/sm/memory_access.h"
#include "rtl_models/sm/resolved_access.h"
#include "rtl_models/sm/shared_memory.h"

namespace warpline {

/// Where what an access brings goes: to its lanes' data, as MemoryAccess lays it out, or of an asynchronous
/// copy to the CTA's part of shared memory.
struct LaneResults {
  MemoryAccess& registers;
  SharedMemory& shared;
  std::uint64_t shared_base = 0;  ///< where the CTA's part begins
};

/// Hands what the answer `r` brings to those lanes of `access` that asked for it; `exact_lane`: the lane that
/// an exact read is of. Pre: the run carries data.
void scatter(const Request& r, const ResolvedAccess& access, unsigned exact_lane, const LaneResults& to);

/// Lanes that access nothing wait for no answer: those of loads and copies get zeros. Pre: the run carries
/// data.
void scatter_zeros(const ResolvedAccess& access, const LaneResults& to);

}  // namespace warpline
