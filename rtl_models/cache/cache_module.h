#pragma once

#include <memory>
#include <string>
#include <utility>

#include "rtl_models/tlm/block_module.h"

namespace warpline {

/// What the modules of the caches of one SM share: `Cache` is a component with ports from_sm, to_sm,
/// to_crossbar and from_crossbar, made of a clock, its `Parameters`, and whether it holds data.
template <class Cache, class Parameters>
class CacheModule : public BlockModule {
 public:
  /// A cache of its own.
  CacheModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
              const Parameters& parameters, bool with_data)
      : CacheModule(name, engine,
                    std::make_unique<Cache>(engine.engine(), std::string(name), clock, parameters, with_data),
                    with_data) {}
  /// Around a cache of a netlist, which outlives it.
  CacheModule(const sc_core::sc_module_name& name, EngineModule& engine, Cache& cache, bool with_data)
      : BlockModule(name, engine),
        from_sm("from_sm", engine, cache.from_sm, cache.to_sm, *this),
        to_crossbar("to_crossbar", engine, cache.to_crossbar, cache.from_crossbar),
        cache_(cache) {
    from_sm.set_with_data(with_data);
    from_sm.set_taken(Cache::kTaken);
    to_crossbar.set_with_data(with_data);
  }

  TargetSocket from_sm;
  InitiatorSocket to_crossbar;
  [[nodiscard]] Cache& cache() { return cache_; }
  /// What lies below, with what is dirty here; a write changes both.
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
    return debug_by_lines(payload, [&](PhysicalAddress at, std::uint8_t* bytes, unsigned count) {
      const unsigned moved = debug_through(to_crossbar, payload, at, bytes, count);
      payload.is_write() ? cache_.update(at, bytes, moved) : cache_.overlay(at, bytes, moved);
      return moved;
    });
  }

 private:
  CacheModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<Cache> cache,
              bool with_data)
      : CacheModule(name, engine, *cache, with_data) {
    own_ = std::move(cache);
  }
  std::unique_ptr<Cache> own_;
  Cache& cache_;
};

}  // namespace warpline
