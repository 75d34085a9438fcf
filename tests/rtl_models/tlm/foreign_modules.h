#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

namespace warpline::test {

/// What a foreign initiator asks for, and what it is answered.
struct Access {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  std::uint64_t address = 0;
  std::vector<std::uint8_t> data;
  std::vector<std::uint8_t> enables{};
  int streaming = -1;  ///< -1: the length
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  bool answered = false;
};

/// Has `p` ask for `a`, in whose data the answer will be.
inline void describe(tlm::tlm_generic_payload& p, Access& a) {
  p.set_command(a.command);
  p.set_address(a.address);
  p.set_data_ptr(a.data.data());
  p.set_data_length(static_cast<unsigned>(a.data.size()));
  p.set_streaming_width(a.streaming < 0 ? p.get_data_length() : static_cast<unsigned>(a.streaming));
  if (!a.enables.empty()) {
    p.set_byte_enable_ptr(a.enables.data());
    p.set_byte_enable_length(static_cast<unsigned>(a.enables.size()));
  }
}

/// An initiator of the base protocol that knows nothing of our extension.
class ForeignInitiator final : public sc_core::sc_module,
                               private tlm::tlm_bw_transport_if<>,
                               private tlm::tlm_mm_interface {
 public:
  struct Habits {
    sc_core::sc_time late = sc_core::SC_ZERO_TIME;  ///< from BEGIN_RESP to END_RESP; zero: TLM_COMPLETED
    bool nested = false;  ///< sends its next request from within the call that ends the one before
  };
  ForeignInitiator(const sc_core::sc_module_name& name, std::vector<Access> accesses, const Habits& habits);
  tlm::tlm_initiator_socket<256> socket{"socket"};
  std::vector<Access> accesses;
  std::size_t freed = 0;

 private:
  void send();
  void begin(sc_core::sc_time delay);
  void request_ended(const sc_core::sc_time& delay);
  void finish(tlm::tlm_generic_payload& payload);
  void end_response();
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override { ++freed; }

  Habits habits_;
  std::size_t next_ = 0;
  std::deque<tlm::tlm_generic_payload> payloads_;
  tlm::tlm_generic_payload* requesting_ = nullptr;
  tlm::tlm_generic_payload* responding_ = nullptr;
  sc_core::sc_event send_, end_response_;
};

/// How a foreign target answers.
enum class Way : std::uint8_t {
  completed,        ///< TLM_COMPLETED with annotated delay
  updated_end,      ///< TLM_UPDATED with END_REQ; BEGIN_RESP later
  updated_answer,   ///< TLM_UPDATED with BEGIN_RESP
  called,           ///< TLM_ACCEPTED; END_REQ and BEGIN_RESP by calls
  answer_only,      ///< TLM_ACCEPTED; BEGIN_RESP says END_REQ
  nested,           ///< BEGIN_RESP from within nb_transport_fw
  silent,           ///< TLM_ACCEPTED and nothing else
  answers_twice,    ///< wrong: BEGIN_RESP from within nb_transport_fw, which then returns TLM_COMPLETED
  responds_twice,   ///< wrong: two BEGIN_RESPs
  status_unset,     ///< wrong: no response status
  strange_phase,    ///< wrong: TLM_UPDATED with END_RESP
  foreign_payload,  ///< wrong: BEGIN_RESP for a payload of its own; then as `completed`
  narrow,           ///< as `completed`, but refuses bursts of more than 4 bytes, as behind an adapter
  nothing_there,    ///< as `completed`, but knows none of the addresses
};

/// A memory of the base protocol that knows nothing of our extension.
class ForeignTarget final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
 public:
  ForeignTarget(const sc_core::sc_module_name& name, Way way, const sc_core::sc_time& pace);
  tlm::tlm_target_socket<256> socket{"socket"};
  std::map<std::uint64_t, std::uint8_t> memory;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  void serve(tlm::tlm_generic_payload& p);
  void queue(tlm::tlm_generic_payload& p);
  void end_request();
  void respond();

  Way way_;
  sc_core::sc_time pace_;
  std::deque<std::pair<tlm::tlm_generic_payload*, sc_core::sc_time>> waiting_;  ///< with when at the earliest
  tlm::tlm_generic_payload* unended_ = nullptr;
  tlm::tlm_generic_payload* responding_ = nullptr;
  sc_core::sc_time free_;  ///< when the last response has ended
  tlm::tlm_generic_payload stray_;
  sc_core::sc_event end_request_, respond_;
};

}  // namespace warpline::test
