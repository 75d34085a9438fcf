#include "my_l2.h"

#include "atomics.h"

namespace {

constexpr std::uint64_t kLineBytes = 128;
std::uint8_t unused[kLineBytes];  // what requests to memory point at: it keeps time, and no bytes

// Steps of a request that are nobody else's business.
DECLARE_EXTENDED_PHASE(LOOK_UP);
DECLARE_EXTENDED_PHASE(FILLED);

}  // namespace

MyL2::MyL2(const sc_core::sc_module_name& name, const Parameters& parameters)
    : sc_module(name),
      parameters_(parameters),
      lines_(parameters.lines),
      channels_(parameters.memory_channels),
      steps_(this, &MyL2::step) {
  from_crossbar.register_nb_transport_fw(this, &MyL2::nb_transport_fw);
  from_crossbar.register_b_transport(this, &MyL2::b_transport);
  from_crossbar.register_transport_dbg(this, &MyL2::transport_dbg);
  for (unsigned i = 0; i < parameters.memory_channels; ++i) {
    to_memory.push_back(std::make_unique<tlm_utils::simple_initiator_socket_tagged<MyL2, 256>>(
        ("to_memory_" + std::to_string(i)).c_str()));
    to_memory.back()->register_nb_transport_bw(this, &MyL2::nb_transport_bw, static_cast<int>(i));
  }
}

MyL2::~MyL2() = default;

// Loosely timed: the same tags, and latencies that add up.

void MyL2::b_transport(Payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t line = payload.get_address() / kLineBytes;
  delay += parameters_.latency;
  if (!is_maintenance(payload) && payload.get_address() < parameters_.memory_bytes) {
    Line& place = place_of(line);
    ++look_ups;
    if (place.number == line) {
      ++hits;
    } else {
      Payload memory;
      if (place.dirty) {
        ++write_backs;
        sc_core::sc_time behind_our_back = delay;
        describe(memory, tlm::TLM_WRITE_COMMAND, place.number);
        (*to_memory[channel_of(place.number)])->b_transport(memory, behind_our_back);
      }
      describe(memory, tlm::TLM_READ_COMMAND, line);
      (*to_memory[channel_of(line)])->b_transport(memory, delay);
      place = {line, false};
    }
  }
  if (perform(payload, parameters_.memory, parameters_.memory_bytes)) place_of(line).dirty = true;
}

unsigned MyL2::transport_dbg(Payload& payload) {
  perform(payload, parameters_.memory, parameters_.memory_bytes);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

// From the crossbar: one request at a time, until its END_REQ.

tlm::tlm_sync_enum MyL2::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    steps_.notify(payload, LOOK_UP, delay + parameters_.latency);
    phase = tlm::END_REQ;
    delay += parameters_.pace;
    return tlm::TLM_UPDATED;
  }
  if (phase == tlm::END_RESP) {
    steps_.notify(payload, phase, delay);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

void MyL2::step(Payload& payload, const tlm::tlm_phase& phase) {
  if (phase == LOOK_UP) {
    look_up(payload);
  } else if (phase == tlm::END_RESP) {
    responding_ = nullptr;
    respond();
  } else if (phase == tlm::END_REQ) {
    const std::size_t channel = channel_of(payload.get_address() / kLineBytes);
    channels_[channel].sending = nullptr;
    send(channel);
  } else if (phase == FILLED) {
    if (payload.is_read()) fill(payload.get_address() / kLineBytes);
    payload.release();
  }
}

void MyL2::look_up(Payload& payload) {
  const std::uint64_t address = payload.get_address();
  if (is_maintenance(payload) || address >= parameters_.memory_bytes) {
    answer(payload);
    return;
  }
  const std::uint64_t line = address / kLineBytes;
  ++look_ups;
  if (const auto pending = fetching_.find(line); pending != fetching_.end()) {
    pending->second.push_back(&payload);
    return;
  }
  if (place_of(line).number == line) {
    ++hits;
    answer(payload);
    return;
  }
  fetching_[line].push_back(&payload);
  access_memory(tlm::TLM_READ_COMMAND, line);
}

void MyL2::fill(std::uint64_t line) {
  Line& place = place_of(line);
  if (place.dirty) {
    ++write_backs;
    access_memory(tlm::TLM_WRITE_COMMAND, place.number);
  }
  place = {line, false};
  const std::vector<Payload*> waiting = std::move(fetching_[line]);
  fetching_.erase(line);
  for (Payload* payload : waiting) answer(*payload);
}

/// Performs the access: from here on everybody sees it.
void MyL2::answer(Payload& payload) {
  const bool changes = perform(payload, parameters_.memory, parameters_.memory_bytes);
  if (changes) place_of(payload.get_address() / kLineBytes).dirty = true;
  answers_.push_back(&payload);
  respond();
}

void MyL2::respond() {
  if (responding_ != nullptr || answers_.empty()) return;
  responding_ = answers_.front();
  answers_.pop_front();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  Payload& payload = *responding_;
  switch (from_crossbar->nb_transport_bw(payload, phase, delay)) {
    case tlm::TLM_ACCEPTED: break;  // END_RESP will come by a call
    case tlm::TLM_UPDATED:
    case tlm::TLM_COMPLETED: steps_.notify(payload, tlm::END_RESP, delay); break;
  }
}

// To memory: whole lines.

void MyL2::describe(Payload& payload, tlm::tlm_command command, std::uint64_t line) {
  payload.set_command(command);
  payload.set_address(line * kLineBytes);
  payload.set_data_ptr(unused);
  payload.set_data_length(kLineBytes);
  payload.set_streaming_width(kLineBytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void MyL2::access_memory(tlm::tlm_command command, std::uint64_t line) {
  if (free_.empty()) free_.push_back(&payloads_.emplace_back(static_cast<tlm::tlm_mm_interface*>(this)));
  Payload& payload = *free_.back();
  free_.pop_back();
  payload.acquire();
  describe(payload, command, line);
  channels_[channel_of(line)].queue.push_back(&payload);
  send(channel_of(line));
}

void MyL2::send(std::size_t channel) {
  Channel& c = channels_[channel];
  if (c.sending != nullptr || c.queue.empty()) return;
  Payload& payload = *c.queue.front();
  c.queue.pop_front();
  c.sending = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum status = (*to_memory[channel])->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  steps_.notify(payload, tlm::END_REQ, delay);
  if (status == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) steps_.notify(payload, FILLED, delay);
}

tlm::tlm_sync_enum MyL2::nb_transport_bw(int channel, Payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) {
    steps_.notify(payload, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  // A response says that the request has ended, too.
  if (channels_[static_cast<std::size_t>(channel)].sending == &payload)
    steps_.notify(payload, tlm::END_REQ, delay);
  steps_.notify(payload, FILLED, delay);
  return tlm::TLM_COMPLETED;
}
