#pragma once

#include <memory>

#include "warpline/fabric/tlm_module.h"
#include "warpline/l1_lg/l1_lg.h"

namespace warpline {

/// The L1 local/global cache of one SM as a TLM-2.0 module.
class L1LgModule final : public BlockModule {
 public:
  /// A cache of its own; see L1Lg.
  L1LgModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
             const L1LgParameters& parameters, bool with_data);
  /// Around a cache of somebody's netlist, which outlives it.
  L1LgModule(const sc_core::sc_module_name& name, EngineModule& engine, L1Lg& cache, bool with_data);

  TargetSocket from_sm;
  InitiatorSocket to_crossbar;
  [[nodiscard]] L1Lg& cache() { return cache_; }

 private:
  L1LgModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<L1Lg> cache,
             bool with_data);
  std::unique_ptr<L1Lg> own_;
  L1Lg& cache_;
};

}  // namespace warpline
