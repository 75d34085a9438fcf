#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/peq_with_cb_and_phase.h>

#include <cstdint>
#include <deque>
#include <map>
#include <systemc>
#include <tlm>
#include <vector>

/// Routes accesses of any number of initiators to any number of targets by address. A target sees addresses
/// from the start of its region on. Timed requests to one target go one after the other, and so do answers to
/// one initiator. What lies in no region is answered with TLM_ADDRESS_ERROR_RESPONSE.
class Bus final : public sc_core::sc_module {
 public:
  explicit Bus(const sc_core::sc_module_name& name);

  tlm_utils::multi_passthrough_target_socket<Bus, 256> from_initiators{"from_initiators"};
  tlm_utils::multi_passthrough_initiator_socket<Bus, 256> to_targets{"to_targets"};
  /// The region of the target that is bound next.
  void map(std::uint64_t base, std::uint64_t bytes) { regions_.push_back({base, bytes}); }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Region {
    std::uint64_t base = 0, bytes = 0;
  };
  struct Route {
    int initiator = 0;
    int target = -1;
    bool completed = false;  ///< by the target, which awaits no END_RESP
  };
  /// One payload at a time on the way, the others in line.
  struct Lane {
    std::deque<Payload*> line;
    Payload* current = nullptr;
  };

  [[nodiscard]] int find(const Payload& payload) const;
  // Untimed.
  void b_transport(int initiator, Payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int initiator, Payload& payload);
  bool get_direct_mem_ptr(int initiator, Payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(int target, sc_dt::uint64 start, sc_dt::uint64 end);
  // Timed: all that arrives takes its turn at the time it is annotated with.
  tlm::tlm_sync_enum nb_transport_fw(int initiator, Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int target, Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void step(Payload& payload, const tlm::tlm_phase& phase);
  void request_ended(Payload& payload, const Route& route);
  void send_request(int target);
  void send_response(int initiator);

  std::vector<Region> regions_;
  std::map<Payload*, Route> routes_;
  std::map<int, Lane> requests_, responses_;  ///< by target, by initiator
  tlm_utils::peq_with_cb_and_phase<Bus> steps_;
};
