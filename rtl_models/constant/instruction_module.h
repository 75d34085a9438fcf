#pragma once

#include "warpline/cache/cache_module.h"
#include "warpline/constant/instruction_cache.h"

namespace warpline {

/// The instruction cache of one SM as a TLM-2.0 module; see InstructionCache.
class InstructionModule final : public CacheModule<InstructionCache, ReadOnlyCacheParameters> {
 public:
  using CacheModule::CacheModule;
};

}  // namespace warpline
