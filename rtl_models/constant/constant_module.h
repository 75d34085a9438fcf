#pragma once

#include "warpline/cache/cache_module.h"
#include "warpline/constant/constant_cache.h"

namespace warpline {

/// The constant cache of one SM as a TLM-2.0 module; see ConstantCache.
class ConstantModule final : public CacheModule<ConstantCache, ReadOnlyCacheParameters> {
 public:
  using CacheModule::CacheModule;
};

}  // namespace warpline
