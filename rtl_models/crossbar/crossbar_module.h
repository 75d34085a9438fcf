#pragma once

#include "rtl_models/base/visibility.h"
#include "rtl_models/crossbar/crossbar_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class Crossbar;

/// The crossbar as a TLM-2.0 module: clients (caches of SMs, devices) on one side, L2 slices on the other.
///
/// Sockets
/// - from_client[n]: requests of one 128-byte line each.
/// - to_l2[s]: those of the lines whose number modulo the slices is `s`; maintenance goes to all.
/// - to_switch[k]: those of the memory of several GPUs (Aperture::multicast), of every k-th line.
///
/// Addresses: physical ones. Debug access goes to the slices; direct memory access is granted as they grant
/// it.
class WARPLINE_PUBLIC CrossbarModule final : public BlockModule {
 public:
  /// A crossbar of its own. The engine outlives it. `places`: of each client in the network; none: there is
  /// no network. Pre: the parameters have no problems.
  CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                 const CrossbarParameters& parameters, unsigned clients, unsigned slices,
                 CrossbarWidths widths, bool with_data, const std::vector<NetworkPlace>& places = {});
  /// Around a crossbar of a netlist with that many ports, `switches` of them to switches between GPUs.
  CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<Crossbar> crossbar,
                 unsigned clients, unsigned slices, bool with_data, unsigned switches = 0);

  std::deque<TargetSocket> from_client;
  std::deque<InitiatorSocket> to_l2;
  std::deque<InitiatorSocket> to_switch;
  [[nodiscard]] Crossbar& crossbar() { return *crossbar_; }

 private:
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  Held<Crossbar> crossbar_;
};

}  // namespace warpline
