#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_module.h"
#include "rtl_models/cache/read_only_cache_parameters.h"

namespace warpline {

class ReadOnlyCache;

/// The texture, constant or instruction cache of one SM as a TLM-2.0 module: it takes reads only.
using ReadOnlyCacheModule = CacheModule<ReadOnlyCache, ReadOnlyCacheParameters>;
extern template class WARPLINE_PUBLIC_INSTANCE CacheModule<ReadOnlyCache, ReadOnlyCacheParameters>;

}  // namespace warpline
