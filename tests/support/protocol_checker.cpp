#include "tests/support/protocol_checker.h"

namespace warpline::test {
namespace {

/// Keeps a payload from being recycled. One without a reference cannot be held: letting go of it would
/// recycle it.
class Hold {
 public:
  explicit Hold(tlm::tlm_generic_payload& payload)
      : payload_(payload.has_mm() && payload.get_ref_count() > 0 ? &payload : nullptr) {
    if (payload_ != nullptr) payload_->acquire();
  }
  ~Hold() {
    if (payload_ != nullptr) payload_->release();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  [[nodiscard]] int references() const { return payload_ != nullptr ? 1 : 0; }

 private:
  tlm::tlm_generic_payload* payload_;
};

}  // namespace

ProtocolChecker::ProtocolChecker(const sc_core::sc_module_name& name)
    : sc_module(name), rules_(this->name()) {
  from_initiator.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  to_target.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

void ProtocolChecker::b_transport(Payload& payload, sc_core::sc_time& delay) {
  ++unchecked_.b_transport;
  to_target->b_transport(payload, delay);
}

unsigned ProtocolChecker::transport_dbg(Payload& payload) {
  ++unchecked_.transport_dbg;
  return to_target->transport_dbg(payload);
}

bool ProtocolChecker::get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
  ++unchecked_.get_direct_mem_ptr;
  return to_target->get_direct_mem_ptr(payload, dmi);
}

void ProtocolChecker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  ++unchecked_.invalidate_direct_mem_ptr;
  from_initiator->invalidate_direct_mem_ptr(start, end);
}

/// The other side may call back, about this or another payload, before it returns; so what the call says is
/// taken in before it is passed on.
tlm::tlm_sync_enum ProtocolChecker::pass(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay,
                                         Way way) {
  const ProtocolRules::Event call{payload, phase, sc_core::sc_time_stamp() + delay};
  const sc_core::sc_time annotated = delay;
  rules_.check_reference(call, 0);
  const Hold hold(payload);
  rules_.sent(call, way, false);
  const std::uint64_t number = rules_.progress(payload).number;

  const tlm::tlm_sync_enum status = way == Way::forward
                                        ? to_target->nb_transport_fw(payload, phase, delay)
                                        : from_initiator->nb_transport_bw(payload, phase, delay);

  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  const bool untouched = phase == call.phase && delay == annotated;
  if (rules_.progress(payload).number != number) {
    // Finished from within the call, and used again since: what returns is about the past.
    if (status == tlm::TLM_UPDATED)
      rules_.report({payload, phase, at}, "was returned for a transaction that had finished during the call");
    return status;
  }
  switch (status) {
    case tlm::TLM_ACCEPTED: rules_.accepted({payload, call.phase, call.at, "TLM_ACCEPTED"}, untouched); break;
    case tlm::TLM_UPDATED:
      rules_.sent({payload, phase, at}, way == Way::forward ? Way::backward : Way::forward, true);
      break;
    case tlm::TLM_COMPLETED: rules_.completed({payload, call.phase, at, "TLM_COMPLETED"}, way); break;
  }
  if (rules_.progress(payload).stage != ProtocolRules::Stage::finished)
    rules_.check_reference(call, hold.references());
  return status;
}

}  // namespace warpline::test
