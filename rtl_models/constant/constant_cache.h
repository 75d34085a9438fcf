#pragma once

#include "warpline/cache/read_only_cache.h"

namespace warpline {

/// Constant cache of one SM: serves `ld.const` and kernel parameters. Its lines are tagged by constant
/// address, (bank << 16) + byte; the banks themselves lie in video memory, behind L2.
class ConstantCache final : public ReadOnlyCache {
 public:
  using ReadOnlyCache::ReadOnlyCache;
};

}  // namespace warpline
