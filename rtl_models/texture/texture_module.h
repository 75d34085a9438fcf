#pragma once

#include "warpline/cache/cache_module.h"
#include "warpline/texture/texture_cache.h"

namespace warpline {

/// The texture cache of one SM as a TLM-2.0 module; see TextureCache.
class TextureModule final : public CacheModule<TextureCache, ReadOnlyCacheParameters> {
 public:
  using CacheModule::CacheModule;
};

}  // namespace warpline
