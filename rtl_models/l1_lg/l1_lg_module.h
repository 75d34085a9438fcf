#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/cache/cache_module.h"
#include "rtl_models/l1_lg/l1_lg_parameters.h"

namespace warpline {

class L1Lg;

/// The L1 local/global cache of one SM as a TLM-2.0 module: global lines are written through, local ones
/// back. It does not see what others write below it.
using L1LgModule = CacheModule<L1Lg, L1LgParameters>;
extern template class WARPLINE_PUBLIC_INSTANCE CacheModule<L1Lg, L1LgParameters>;

}  // namespace warpline
