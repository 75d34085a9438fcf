#include "core.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace {

enum Role : unsigned { kLoadX, kLoadY, kStore, kRoles };  // of a warp's accesses
// A phase of our own in our own queue: a result is ready to be stored.
DECLARE_EXTENDED_PHASE(result_ready);

}  // namespace

ShaderCore::ShaderCore(const sc_core::sc_module_name& name, const Work& work, Parameters parameters)
    : sc_module(name),
      work_(work),
      parameters_(std::move(parameters)),
      warps_(parameters_.warps),
      steps_(this, &ShaderCore::step) {
  socket.register_nb_transport_bw(this, &ShaderCore::nb_transport_bw);
  for (unsigned w = 0; w < warps_.size(); ++w)
    while (warps_[w].accesses.size() != kRoles)
      warps_[w].accesses.emplace_back(static_cast<tlm::tlm_mm_interface*>(this)).warp = w;
  SC_HAS_PROCESS(ShaderCore);
  SC_THREAD(start);
}

void ShaderCore::start() {
  for (unsigned w = 0; w < warps_.size(); ++w) next_line(w);
}

void ShaderCore::next_line(unsigned w) {
  if (begun_ == work_.lines) return;
  Warp& warp = warps_[w];
  warp.line = begun_++;
  warp.loaded = 0;
  issue(warp.accesses[kLoadX], tlm::TLM_READ_COMMAND, work_.x + warp.line * std::uint64_t{kLineBytes});
  issue(warp.accesses[kLoadY], tlm::TLM_READ_COMMAND, work_.y + warp.line * std::uint64_t{kLineBytes});
}

void ShaderCore::issue(Access& access, tlm::tlm_command command, std::uint64_t address) {
  Payload& payload = access.payload;
  payload.acquire();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(access.lanes.data()));
  payload.set_data_length(kLineBytes);
  payload.set_streaming_width(kLineBytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (parameters_.qualify && &access == &warps_[access.warp].accesses[kLoadX]) parameters_.qualify(payload);
  queue_.push_back(&access);
  send();
}

/// Sends the next request, if the channel is free.
void ShaderCore::send() {
  if (requesting_ != nullptr || queue_.empty()) return;
  Payload& payload = queue_.front()->payload;
  queue_.pop_front();
  most_in_flight = std::max(most_in_flight, ++in_flight);
  requesting_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_UPDATED) steps_.notify(payload, phase, delay);
  if (status == tlm::TLM_COMPLETED) steps_.notify(payload, tlm::BEGIN_RESP, delay);
}

/// All that is heard takes effect at its time. A response is taken as it begins.
tlm::tlm_sync_enum ShaderCore::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  steps_.notify(payload, phase, delay);
  return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void ShaderCore::step(Payload& payload, const tlm::tlm_phase& phase) {
  Access& access = access_of(payload);
  if (phase == result_ready)
    return issue(access, tlm::TLM_WRITE_COMMAND,
                 work_.y + warps_[access.warp].line * std::uint64_t{kLineBytes});
  if (requesting_ == &payload) requesting_ = nullptr;  // a response ends the request, too
  if (phase == tlm::BEGIN_RESP) finish(access);
  send();
}

void ShaderCore::finish(Access& access) {
  Warp& warp = warps_[access.warp];
  --in_flight;
  refused += access.payload.is_response_ok() ? 0 : 1;
  const bool load = access.payload.is_read();
  access.payload.release();
  if (load) {
    if (++warp.loaded == 2) compute(warp);
    return;
  }
  ++finished;
  done = sc_core::sc_time_stamp();
  next_line(access.warp);
}

void ShaderCore::compute(Warp& warp) {
  Access& store = warp.accesses[kStore];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    store.lanes[lane] = work_.a * warp.accesses[kLoadX].lanes[lane] + warp.accesses[kLoadY].lanes[lane];
  steps_.notify(store.payload, result_ready, parameters_.compute);
}

ShaderCore::Access& ShaderCore::access_of(Payload& payload) {
  for (Warp& warp : warps_)
    for (Access& access : warp.accesses)
      if (&access.payload == &payload) return access;
  throw std::logic_error("a payload that is not ours");
}
