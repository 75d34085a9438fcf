#include "rtl_models/l1_lg/l1_lg_module.h"

#include "rtl_models/cache/cache_module_definitions.h"
#include "rtl_models/l1_lg/l1_lg.h"

namespace warpline {

template class CacheModule<L1Lg, L1LgParameters>;

}  // namespace warpline
