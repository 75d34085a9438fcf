#pragma once

#include "warpline/cache/read_only_cache.h"

namespace warpline {

/// Instruction cache of one SM: serves its instruction fetch. Its lines are tagged by code address, which is
/// the address of the code in video memory; misses go to L2. What it holds is stale once code is written,
/// until it is invalidated (SASS `CCTL.I.IVALL`).
class InstructionCache final : public ReadOnlyCache {
 public:
  using ReadOnlyCache::ReadOnlyCache;
};

}  // namespace warpline
