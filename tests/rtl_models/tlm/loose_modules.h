#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "rtl_models/tlm/payload.h"
#include "tests/rtl_models/tlm/foreign_modules.h"

namespace warpline::test {

/// An initiator of somebody else's: a thread that calls, and what it was called back for.
class LooseInitiator final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  using Body = std::function<void(LooseInitiator&)>;
  using Range = std::pair<sc_dt::uint64, sc_dt::uint64>;
  LooseInitiator(const sc_core::sc_module_name& name, Body body);
  tlm::tlm_initiator_socket<256> socket{"socket"};
  std::vector<Range> invalidated;  ///< as it was told
  bool done = false;               ///< its body has returned

  /// Calls b_transport for `a`, and returns whether it was hinted at direct memory. `model` qualifies it;
  /// null: a plain payload.
  bool call(Access& a, sc_core::sc_time& delay, Request* model = nullptr);
  /// As `call`, from the tick of a cycle on: the time it took.
  sc_core::sc_time loose(Access& a, Request* model = nullptr);
  /// The same by nb_transport: the time from BEGIN_REQ to BEGIN_RESP.
  sc_core::sc_time timed(Access& a, Request* model = nullptr);
  unsigned debug(Access& a);
  bool direct(tlm::tlm_command command, std::uint64_t address, tlm::tlm_dmi& dmi);

 private:
  void run();
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    invalidated.emplace_back(first, last);
  }
  Body body_;
  sc_core::sc_event answered_;
  sc_core::sc_time response_;
};

/// A memory of somebody else's that takes its time in b_transport.
class LooseMemory final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  struct Habits {
    sc_core::sc_time waits = sc_core::SC_ZERO_TIME;      ///< by wait()
    sc_core::sc_time annotates = sc_core::SC_ZERO_TIME;  ///< added to the delay
    bool accepts = false;                                ///< takes atomics and maintenance, to no effect
  };
  LooseMemory(const sc_core::sc_module_name& name, Habits habits);
  tlm::tlm_target_socket<256> socket{"socket"};
  std::map<std::uint64_t, std::uint8_t> bytes;
  std::map<std::uint64_t, unsigned> reads;  ///< by line address
  unsigned calls = 0, inside = 0, most_inside = 0;
  std::vector<std::uint8_t> direct;  ///< granted for direct access, as addresses from 0 on; empty: nothing is

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void move(tlm::tlm_generic_payload& payload);
  Habits habits_;
};

}  // namespace warpline::test
