#include "traffic.h"

namespace {

constexpr unsigned kPieceBytes = 64;

}  // namespace

Traffic::Traffic(const sc_core::sc_module_name& name, const Parameters& parameters)
    : sc_module(name), parameters_(parameters), steps_(this, &Traffic::step) {
  socket.register_nb_transport_bw(this, &Traffic::nb_transport_bw);
}

std::uint8_t Traffic::pattern(unsigned piece, unsigned byte) const {
  return static_cast<std::uint8_t>((piece * 131 + byte * 7 + parameters_.seed * 29) >> 1U);
}

/// Begins another access if one may begin now. Reading starts when all is written.
void Traffic::next() {
  const unsigned pieces = parameters_.pieces;
  const bool turn = begun_ != pieces || written == pieces;
  if (requesting_ != nullptr || in_flight_ == parameters_.in_flight ||
      begun_ == (1 + parameters_.rounds) * pieces || !turn)
    return;
  Access* access = nullptr;
  for (Access& a : accesses_)
    if (a.free) access = &a;
  if (access == nullptr) access = &accesses_.emplace_back(static_cast<tlm::tlm_mm_interface*>(this));
  access->piece = begun_++ % pieces;
  begin(*access);
}

void Traffic::begin(Access& access) {
  const bool writes = begun_ <= parameters_.pieces;
  Payload& payload = access.payload;
  access.free = false;
  access.data.assign(kPieceBytes, 0);
  for (unsigned i = 0; writes && i < kPieceBytes; ++i) access.data[i] = pattern(access.piece, i);
  payload.acquire();
  payload.set_command(writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  // An odd factor visits each piece of a power of two once.
  const std::uint64_t place = (access.piece * 181ULL + parameters_.seed) % parameters_.pieces;
  payload.set_address(parameters_.base + place * kPieceBytes);
  payload.set_data_ptr(access.data.data());
  payload.set_data_length(kPieceBytes);
  payload.set_streaming_width(kPieceBytes);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  ++in_flight_;
  requesting_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_UPDATED) steps_.notify(payload, phase, delay);
  if (status == tlm::TLM_COMPLETED) steps_.notify(payload, tlm::BEGIN_RESP, delay);
}

tlm::tlm_sync_enum Traffic::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
  steps_.notify(payload, phase, delay);
  return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void Traffic::step(Payload& payload, const tlm::tlm_phase& phase) {
  if (requesting_ == &payload) requesting_ = nullptr;  // a response ends the request, too
  if (phase == tlm::BEGIN_RESP) finish(payload);
  next();
}

void Traffic::finish(Payload& payload) {
  --in_flight_;
  const Access* access = nullptr;
  for (const Access& a : accesses_)
    if (&a.payload == &payload) access = &a;
  if (!payload.is_response_ok()) ++refused;
  if (payload.is_write()) {
    ++written;
  } else {
    for (unsigned i = 0; i < kPieceBytes; ++i)
      if (access->data[i] != pattern(access->piece, i)) {
        ++wrong;
        break;
      }
    ++read;
    finished = sc_core::sc_time_stamp();
  }
  payload.release();
}

void Traffic::free(Payload* payload) {
  for (Access& a : accesses_)
    if (&a.payload == payload) a.free = true;
}
