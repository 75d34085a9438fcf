#pragma once

#include "warpline/cache/read_only_cache.h"

namespace warpline {

/// Texture/non-coherent cache of one SM: serves `ld.global.nc` (PTX ISA, "ld.global.nc"). Stores,
/// acquires and ordinary fences do not invalidate it; a grid boundary does.
class TextureCache final : public ReadOnlyCache {
 public:
  using ReadOnlyCache::ReadOnlyCache;
};

}  // namespace warpline
