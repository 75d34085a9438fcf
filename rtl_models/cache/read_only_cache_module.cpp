#include "warpline/cache/read_only_cache_module.h"

namespace warpline {

ReadOnlyCacheModule::ReadOnlyCacheModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                         ReadOnlyCache& cache, bool with_data)
    : BlockModule(name, engine),
      from_sm("from_sm", engine, cache.from_sm, cache.to_sm, *this),
      to_crossbar("to_crossbar", engine, cache.to_crossbar, cache.from_crossbar),
      cache_(cache) {
  from_sm.set_with_data(with_data);
  to_crossbar.set_with_data(with_data);
}

ReadOnlyCacheModule::ReadOnlyCacheModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                         std::unique_ptr<ReadOnlyCache> cache, bool with_data)
    : ReadOnlyCacheModule(name, engine, *cache, with_data) {
  own_ = std::move(cache);
}

ReadOnlyCacheModule::ReadOnlyCacheModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                         const ClockDomain& clock, const ReadOnlyCacheParameters& parameters,
                                         bool with_data)
    : ReadOnlyCacheModule(
          name, engine,
          std::make_unique<ReadOnlyCache>(engine.engine(), std::string(name), clock, parameters, with_data),
          with_data) {}

}  // namespace warpline
