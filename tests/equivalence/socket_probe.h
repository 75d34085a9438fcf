#pragma once

#include <systemc>
#include <tlm>

#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/equivalence/end_rule.h"
#include "tests/equivalence/passage.h"

namespace warpline::test {

/// A foreign module in a hop: notes down in which cycle each message begins and ends its occupancy, by the
/// effective times of the phases. By another rule than end_rules::faithful it passes ENDs on wrongly, as far
/// as time allows.
class SocketProbe final : public sc_core::sc_module,
                          private tlm::tlm_fw_transport_if<>,
                          private tlm::tlm_bw_transport_if<> {
 public:
  /// One direction of the hop.
  struct Channel {
    unsigned width = 32;
    ClockDomain sender, receiver;
  };
  SocketProbe(const sc_core::sc_module_name& name, EngineProcess& engine, const Channel& request,
              const Channel& response, EndRule rule);

  tlm::tlm_target_socket<kBusBits> from_initiator{"from_initiator"};
  tlm::tlm_initiator_socket<kBusBits> to_target{"to_target"};
  /// Beats but for the first, arrivals and pops are not seen here.
  [[nodiscard]] const ChannelLog& down() const { return down_.log; }
  [[nodiscard]] const ChannelLog& up() const { return up_.log; }

 private:
  struct Watched {
    Channel channel;
    ChannelLog log;
    Cycle wire_free = 0;
  };
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    to_target->b_transport(payload, delay);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
    return to_target->transport_dbg(payload);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void begun(Watched& on, std::uint64_t id, unsigned beats, const sc_core::sc_time& delay);
  void ended(Watched& on, sc_core::sc_time& delay);

  EngineProcess& engine_;
  EndRule rule_;
  Watched down_, up_;
};

}  // namespace warpline::test
