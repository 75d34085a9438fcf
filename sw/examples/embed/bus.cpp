#include "bus.h"

Bus::Bus(const sc_core::sc_module_name& name) : sc_module(name), steps_(this, &Bus::step) {
  from_initiators.register_b_transport(this, &Bus::b_transport);
  from_initiators.register_transport_dbg(this, &Bus::transport_dbg);
  from_initiators.register_get_direct_mem_ptr(this, &Bus::get_direct_mem_ptr);
  from_initiators.register_nb_transport_fw(this, &Bus::nb_transport_fw);
  to_targets.register_nb_transport_bw(this, &Bus::nb_transport_bw);
  to_targets.register_invalidate_direct_mem_ptr(this, &Bus::invalidate_direct_mem_ptr);
}

int Bus::find(const Payload& payload) const {
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (payload.get_address() >= regions_[i].base &&
        payload.get_address() - regions_[i].base < regions_[i].bytes)
      return static_cast<int>(i);
  return -1;
}

void Bus::b_transport(int /*initiator*/, Payload& payload, sc_core::sc_time& delay) {
  const int target = find(payload);
  if (target < 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const std::uint64_t base = regions_[static_cast<std::size_t>(target)].base;
  payload.set_address(payload.get_address() - base);
  to_targets[target]->b_transport(payload, delay);
  payload.set_address(payload.get_address() + base);
}

unsigned Bus::transport_dbg(int /*initiator*/, Payload& payload) {
  const int target = find(payload);
  if (target < 0) return 0;
  const std::uint64_t base = regions_[static_cast<std::size_t>(target)].base;
  payload.set_address(payload.get_address() - base);
  const unsigned count = to_targets[target]->transport_dbg(payload);
  payload.set_address(payload.get_address() + base);
  return count;
}

bool Bus::get_direct_mem_ptr(int /*initiator*/, Payload& payload, tlm::tlm_dmi& dmi) {
  const int target = find(payload);
  if (target < 0) return false;
  const Region region = regions_[static_cast<std::size_t>(target)];
  payload.set_address(payload.get_address() - region.base);
  const bool granted = to_targets[target]->get_direct_mem_ptr(payload, dmi);
  payload.set_address(payload.get_address() + region.base);
  const std::uint64_t last = dmi.get_end_address() < region.bytes ? dmi.get_end_address() : region.bytes - 1;
  dmi.set_start_address(dmi.get_start_address() + region.base);
  dmi.set_end_address(last + region.base);
  return granted;
}

void Bus::invalidate_direct_mem_ptr(int target, sc_dt::uint64 start, sc_dt::uint64 end) {
  const Region region = regions_[static_cast<std::size_t>(target)];
  const std::uint64_t last = end < region.bytes ? end : region.bytes - 1;
  for (unsigned i = 0; i < from_initiators.size(); ++i)
    from_initiators[static_cast<int>(i)]->invalidate_direct_mem_ptr(start + region.base, last + region.base);
}

tlm::tlm_sync_enum Bus::nb_transport_fw(int initiator, Payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    payload.acquire();
    Route& route = routes_[&payload];
    route = {initiator, find(payload), false};
  }
  steps_.notify(payload, phase, delay);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Bus::nb_transport_bw(int /*target*/, Payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  steps_.notify(payload, phase, delay);
  return tlm::TLM_ACCEPTED;
}

void Bus::step(Payload& payload, const tlm::tlm_phase& phase) {
  Route& route = routes_.at(&payload);
  if (phase == tlm::BEGIN_REQ && route.target >= 0) {
    const std::uint64_t base = regions_[static_cast<std::size_t>(route.target)].base;
    payload.set_address(payload.get_address() - base);  // for good: an initiator does not count on it
    requests_[route.target].line.push_back(&payload);
    send_request(route.target);
  } else if (phase == tlm::BEGIN_REQ) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    route.completed = true;
    responses_[route.initiator].line.push_back(&payload);
    send_response(route.initiator);
  } else if (phase == tlm::END_REQ) {
    request_ended(payload, route);
    tlm::tlm_phase end = tlm::END_REQ;
    sc_core::sc_time now;
    static_cast<void>(from_initiators[route.initiator]->nb_transport_bw(payload, end, now));
  } else if (phase == tlm::BEGIN_RESP) {
    // It says END_REQ, too, where that has not been said.
    if (requests_[route.target].current == &payload) request_ended(payload, route);
    responses_[route.initiator].line.push_back(&payload);
    send_response(route.initiator);
  } else if (phase == tlm::END_RESP) {
    const Route ended = route;
    tlm::tlm_phase end = tlm::END_RESP;
    sc_core::sc_time now;
    if (!ended.completed) static_cast<void>(to_targets[ended.target]->nb_transport_fw(payload, end, now));
    routes_.erase(&payload);
    payload.release();
    responses_[ended.initiator].current = nullptr;
    send_response(ended.initiator);
  }
}

void Bus::request_ended(Payload& /*payload*/, const Route& route) {
  requests_[route.target].current = nullptr;
  send_request(route.target);
}

void Bus::send_request(int target) {
  Lane& lane = requests_[target];
  if (lane.current != nullptr || lane.line.empty()) return;
  Payload& payload = *(lane.current = lane.line.front());
  lane.line.pop_front();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum status = to_targets[target]->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_COMPLETED) {
    routes_.at(&payload).completed = true;
    phase = tlm::BEGIN_RESP;
  }
  if (status != tlm::TLM_ACCEPTED) steps_.notify(payload, phase, delay);
}

void Bus::send_response(int initiator) {
  Lane& lane = responses_[initiator];
  if (lane.current != nullptr || lane.line.empty()) return;
  Payload& payload = *(lane.current = lane.line.front());
  lane.line.pop_front();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  // Completed or updated: the initiator has taken it. Else it will say END_RESP.
  if (from_initiators[initiator]->nb_transport_bw(payload, phase, delay) != tlm::TLM_ACCEPTED)
    steps_.notify(payload, tlm::END_RESP, delay);
}
