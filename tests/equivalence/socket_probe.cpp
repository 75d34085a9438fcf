#include "tests/equivalence/socket_probe.h"

namespace warpline::test {

SocketProbe::SocketProbe(const sc_core::sc_module_name& name, EngineProcess& engine, const Channel& request,
                         const Channel& response, EndRule rule)
    : sc_module(name), engine_(engine), rule_(rule), down_{request, {}}, up_{response, {}} {
  from_initiator.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  to_target.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

void SocketProbe::begun(Watched& on, std::uint64_t id, unsigned beats, const sc_core::sc_time& delay) {
  const Cycle t = engine_.cycle_of(sc_core::sc_time_stamp() + delay);
  Passage& p = on.log.emplace_back();
  p.id = id;
  p.beats.push_back(t);
  on.wire_free = on.channel.sender.after(t, beats);
}

void SocketProbe::ended(Watched& on, sc_core::sc_time& delay) {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const Cycle free = engine_.freed_by_end_at(now + delay);
  const Cycle told =
      rule_({engine_.cycle_of(now), on.wire_free, free, on.channel.sender, on.channel.receiver});
  if (told != free) delay = engine_.start_of(told) - now;
  on.log.back().end = told;
}

tlm::tlm_sync_enum SocketProbe::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    Request* r = payload.get_extension<RequestExtension>()->request;
    begun(down_, r->id, RequestMessage{r}.beats(down_.channel.width), delay);
  } else if (phase == tlm::END_RESP) {
    ended(up_, delay);
  }
  const tlm::tlm_sync_enum status = to_target->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) ended(down_, delay);
  return status;
}

tlm::tlm_sync_enum SocketProbe::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) {
    ended(down_, delay);
  } else if (phase == tlm::BEGIN_RESP) {
    const auto* extension = payload.get_extension<RequestExtension>();
    Request* r = extension->request;
    // A response that overtakes the END of its request says both; when the wire is free stands beside.
    if (down_.log.back().end == kNever && down_.log.back().id == r->id)
      down_.log.back().end = extension->request_end;
    begun(up_, r->id, ResponseMessage{r}.beats(up_.channel.width), delay);
  }
  const tlm::tlm_sync_enum status = from_initiator->nb_transport_bw(payload, phase, delay);
  if (status == tlm::TLM_UPDATED && phase == tlm::END_RESP) ended(up_, delay);
  return status;
}

}  // namespace warpline::test
