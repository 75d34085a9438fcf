#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tests/support/protocol_rules.h"

namespace warpline::test {

/// Sits in a hop, passes everything through unchanged, and collects what breaks the base protocol of TLM-2.0
/// (IEEE 1666-2011). Times are effective times: sc_time_stamp() plus annotated delay.
///
/// - Exclusion: no BEGIN_REQ while another request has not ended (END_REQ, BEGIN_RESP or completion), no
///   BEGIN_RESP while another response has not.
/// - Order: the phases of one transaction, sent by a call or returned with TLM_UPDATED; nothing for a
///   transaction that has finished. Times never decrease: those of one transaction, and from BEGIN to BEGIN
///   in one direction.
/// - Return values: TLM_ACCEPTED leaves phase, delay and response status alone; TLM_COMPLETED comes from a
///   target before the response and from an initiator after it has begun, or answers END_RESP.
/// - Response status: TLM_INCOMPLETE_RESPONSE at BEGIN_REQ, something else from the response on, and then
///   for good.
/// - Payload: managed and referenced, with data pointer, lengths and streaming width; nothing in it changes
///   (the data of a read: from BEGIN_RESP on; the address, above an interconnect: likewise), and it is not
///   used again before its END_RESP has taken effect.
///
/// Ignorable phases, DMI, debug and blocking calls pass unchecked. While a call passes, the checker
/// holds a reference to the payload, so that it may be looked at afterwards.
class ProtocolChecker final : public sc_core::sc_module,
                              private tlm::tlm_fw_transport_if<>,
                              private tlm::tlm_bw_transport_if<> {
 public:
  /// Calls that pass unchecked.
  struct Unchecked {
    std::uint64_t b_transport = 0;
    std::uint64_t transport_dbg = 0;
    std::uint64_t get_direct_mem_ptr = 0;
    std::uint64_t invalidate_direct_mem_ptr = 0;
  };

  explicit ProtocolChecker(const sc_core::sc_module_name& name);

  tlm::tlm_target_socket<256> from_initiator{"from_initiator"};
  tlm::tlm_initiator_socket<256> to_target{"to_target"};

  [[nodiscard]] const ProtocolRules::Counts& counts() const { return rules_.counts(); }
  [[nodiscard]] const Unchecked& unchecked() const { return unchecked_; }
  /// A sentence each: this module's name, phase, transaction, effective time, and what is wrong. At most
  /// ProtocolRules::kMostViolations of them.
  [[nodiscard]] const std::vector<std::string>& violations() const { return rules_.violations(); }
  /// All violations, listed or not.
  [[nodiscard]] std::uint64_t violation_count() const { return rules_.violation_count(); }
  /// Between it and the target is an interconnect that routes by address and may overwrite it.
  void let_address_change() { rules_.let_address_change(); }
  /// The end of the run: transactions in flight become violations, oldest first.
  void finish() { rules_.finish(); }

 private:
  using Payload = tlm::tlm_generic_payload;
  using Way = ProtocolRules::Way;

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return pass(payload, phase, delay, Way::forward);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return pass(payload, phase, delay, Way::backward);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(Payload& payload) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  tlm::tlm_sync_enum pass(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay, Way way);

  ProtocolRules rules_;
  Unchecked unchecked_;
};

}  // namespace warpline::test
