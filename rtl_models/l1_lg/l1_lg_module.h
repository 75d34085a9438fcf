#pragma once

#include "rtl_models/cache/cache_module.h"
#include "rtl_models/l1_lg/l1_lg.h"

namespace warpline {

/// The L1 local/global cache of one SM as a TLM-2.0 module; see L1Lg.
class L1LgModule final : public CacheModule<L1Lg, L1LgParameters> {
 public:
  using CacheModule::CacheModule;
};

}  // namespace warpline
