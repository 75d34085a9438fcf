#pragma once

#include "rtl_models/cache/cache_module.h"
#include "rtl_models/cache/read_only_cache.h"

namespace warpline {

/// The texture, constant or instruction cache of one SM as a TLM-2.0 module; see ReadOnlyCache.
using ReadOnlyCacheModule = CacheModule<ReadOnlyCache, ReadOnlyCacheParameters>;

}  // namespace warpline
