#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/sm_network/sm_network_parameters.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class SmNetwork;

/// The network between SMs as a TLM-2.0 module.
///
/// Sockets
/// - from_sm[n]: what SM n asks of other SMs' shared memory: requests of one 128-byte line each.
/// - to_shared[n]: what is asked of SM n.
///
/// Addresses: bits 63 to 60 are 3, bits 58 to 48 the SM; what lies below is the network's and the SMs' own.
/// No debug access and no direct memory access.
class WARPLINE_PUBLIC SmNetworkModule final : public BlockModule {
 public:
  /// Around a network of a netlist with that many SMs.
  SmNetworkModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<SmNetwork> network,
                  unsigned sms, bool with_data);
  /// A network of its own, SM n in graphics processing cluster n / sms_per_tpc mod gpcs. The engine outlives
  /// it.
  SmNetworkModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                  unsigned sms, unsigned gpcs, unsigned sms_per_tpc, SmNetworkWidths widths, bool with_data);

  std::deque<TargetSocket> from_sm;
  std::deque<InitiatorSocket> to_shared;
  [[nodiscard]] SmNetwork& network() { return *network_; }

 private:
  Held<SmNetwork> network_;
};

}  // namespace warpline
