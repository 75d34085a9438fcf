#include "warpline/l1_lg/l1_lg_module.h"

namespace warpline {

L1LgModule::L1LgModule(const sc_core::sc_module_name& name, EngineModule& engine, L1Lg& cache, bool with_data)
    : BlockModule(name, engine),
      from_sm("from_sm", engine, cache.from_sm, cache.to_sm, *this),
      to_crossbar("to_crossbar", engine, cache.to_crossbar, cache.from_crossbar),
      cache_(cache) {
  from_sm.set_with_data(with_data);
  to_crossbar.set_with_data(with_data);
}

L1LgModule::L1LgModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<L1Lg> cache,
                       bool with_data)
    : L1LgModule(name, engine, *cache, with_data) {
  own_ = std::move(cache);
}

L1LgModule::L1LgModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                       const L1LgParameters& parameters, bool with_data)
    : L1LgModule(name, engine,
                 std::make_unique<L1Lg>(engine.engine(), std::string(name), clock, parameters, with_data),
                 with_data) {}

}  // namespace warpline
