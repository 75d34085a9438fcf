#include "rtl_models/cache/read_only_cache_module.h"

#include "rtl_models/cache/cache_module_definitions.h"
#include "rtl_models/cache/read_only_cache.h"

namespace warpline {

template class CacheModule<ReadOnlyCache, ReadOnlyCacheParameters>;

}  // namespace warpline
