#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/sim/request.h"
#include "rtl_models/sm/memory_access.h"
#include "rtl_models/sm/resolved_access.h"
#include "rtl_models/sm/shared_memory.h"
#include "rtl_models/sm/texel_plan.h"

namespace warpline {

/// The texels of a warp's texture load as they come, in whatever order.
using FetchedTexels = std::array<TexelBytes, kWarpLanes>;

/// Where what an access brings goes: to its lanes' data, as MemoryAccess lays it out, or of an asynchronous
/// copy to the CTA's part of shared memory.
struct LaneResults {
  MemoryAccess& registers;
  SharedMemory& shared;
  std::uint64_t shared_base = 0;    ///< where the CTA's part begins
  FetchedTexels* texels = nullptr;  ///< of a texture load: what has come so far; else null
};

/// Hands what the answer `r` brings to those lanes of `access` that asked for it; `exact_lane`: the lane that
/// an exact read is of. Pre: the run carries data.
void scatter(const Request& r, const ResolvedAccess& access, unsigned exact_lane, const LaneResults& to);

/// All texels of a texture load have come: its lanes get what they make. Pre: the run carries data.
void combine(const ResolvedAccess& access, const LaneResults& to);

/// Lanes that access nothing wait for no answer: those of loads and copies get zeros, those of queries what
/// they ask for. Pre: the run carries data.
void scatter_zeros(const ResolvedAccess& access, const LaneResults& to);

}  // namespace warpline
