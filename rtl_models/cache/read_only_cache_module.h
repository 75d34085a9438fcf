#pragma once

#include <memory>

#include "warpline/cache/read_only_cache.h"
#include "warpline/fabric/tlm_module.h"

namespace warpline {

/// What the modules of texture and constant caches share.
class ReadOnlyCacheModule : public BlockModule {
 public:
  /// A cache of its own; see ReadOnlyCache.
  ReadOnlyCacheModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                      const ReadOnlyCacheParameters& parameters, bool with_data);
  /// Around a cache of somebody's netlist, which outlives it.
  ReadOnlyCacheModule(const sc_core::sc_module_name& name, EngineModule& engine, ReadOnlyCache& cache,
                      bool with_data);

  TargetSocket from_sm;
  InitiatorSocket to_crossbar;
  [[nodiscard]] ReadOnlyCache& cache() { return cache_; }

 private:
  ReadOnlyCacheModule(const sc_core::sc_module_name& name, EngineModule& engine,
                      std::unique_ptr<ReadOnlyCache> cache, bool with_data);
  std::unique_ptr<ReadOnlyCache> own_;
  ReadOnlyCache& cache_;
};

}  // namespace warpline
