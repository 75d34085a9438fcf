#pragma once

#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

/// What the modules of the caches of one SM share: `Cache` is a component with ports from_sm, to_sm,
/// to_crossbar and from_crossbar, made of a clock, its `Parameters`, and whether it holds data.
///
/// Sockets
/// - from_sm: reads and writes of one 128-byte line each; what the cache does not take is answered with
///   TLM_COMMAND_ERROR_RESPONSE.
/// - to_crossbar: what it fetches and writes through, to a crossbar or an L2 slice.
///
/// Addresses: physical ones, the aperture in bits 63:60 and the offset in its memory below. Debug access
/// reads what lies below, with what is dirty here or on its way from here; a write changes all of it. Direct
/// memory access is never granted.
template <class Cache, class Parameters>
class CacheModule : public BlockModule {
 public:
  /// A cache of its own. The engine outlives it.
  CacheModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
              const Parameters& parameters, bool with_data);
  /// Around a cache of a netlist.
  CacheModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<Cache> cache, bool with_data);

 private:
  Held<Cache> cache_;

 public:
  TargetSocket from_sm;
  InitiatorSocket to_crossbar;
  [[nodiscard]] Cache& cache() { return *cache_; }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
};

}  // namespace warpline
