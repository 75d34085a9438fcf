#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rtl_models/cache/cache_module.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

template <class Cache, class Parameters>
CacheModule<Cache, Parameters>::CacheModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                            const ClockDomain& clock, const Parameters& parameters,
                                            bool with_data)
    : CacheModule(name, engine,
                  std::make_shared<Cache>(process_of(engine).engine(), std::string(name), clock, parameters,
                                          with_data),
                  with_data) {
  cache_->serve_debuggers();
}

template <class Cache, class Parameters>
CacheModule<Cache, Parameters>::CacheModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                            Held<Cache> cache, bool with_data)
    : BlockModule(name),
      cache_(std::move(cache)),
      from_sm("from_sm", engine, cache_->from_sm, cache_->to_sm, *this),
      to_crossbar("to_crossbar", engine, cache_->to_crossbar, cache_->from_crossbar) {
  from_sm.set_with_data(with_data);
  from_sm.set_taken(Cache::kTaken);
  to_crossbar.set_with_data(with_data);
}

template <class Cache, class Parameters>
unsigned CacheModule<Cache, Parameters>::transport_dbg(tlm::tlm_generic_payload& payload) {
  return debug_by_lines(payload, [&](PhysicalAddress at, std::uint8_t* bytes, unsigned count) {
    const unsigned moved = debug_through(to_crossbar, payload, at, bytes, count);
    payload.is_write() ? cache_->update(at, bytes, moved) : cache_->overlay(at, bytes, moved);
    return moved;
  });
}

}  // namespace warpline
