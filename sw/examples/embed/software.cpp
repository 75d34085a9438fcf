#include "software.h"

namespace {

constexpr unsigned kPieceBytes = 128;

}  // namespace

Software::Software(const sc_core::sc_module_name& name, const Parameters& parameters)
    : sc_module(name), parameters_(parameters) {
  for (unsigned i = 0; i < parameters.bytes; ++i)
    image_.push_back(static_cast<std::uint8_t>(i * 7 + i / 251));
  socket.register_invalidate_direct_mem_ptr(this, &Software::invalidate_direct_mem_ptr);
  SC_HAS_PROCESS(Software);
  SC_THREAD(run);
}

void Software::run() {
  time_.reset();
  wrong +=
      parameters_.bytes - debug(tlm::TLM_WRITE_COMMAND, parameters_.ram, image_.data(), parameters_.bytes);
  std::vector<std::uint8_t> piece(kPieceBytes);
  for (unsigned at = 0; at < parameters_.bytes; at += kPieceBytes) {
    access(tlm::TLM_READ_COMMAND, parameters_.ram + at, piece.data());
    access(tlm::TLM_WRITE_COMMAND, parameters_.video_memory + at, piece.data());
  }
  std::vector<std::uint8_t> copy(parameters_.bytes);
  for (unsigned at = 0; at < parameters_.bytes; at += kPieceBytes)
    access(tlm::TLM_READ_COMMAND, parameters_.video_memory + at, &copy[at]);
  compare(copy.data(), copy.size());
  const std::vector<std::uint8_t> seen = look(parameters_.video_memory, parameters_.bytes);
  compare(seen.data(), seen.size());
  compare_directly();
  time_.sync();
  booted = sc_core::sc_time_stamp();
  if (when_booted) when_booted();
}

void Software::access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(kPieceBytes);
  payload.set_streaming_width(kPieceBytes);
  sc_core::sc_time delay = time_.get_local_time();
  socket->b_transport(payload, delay);
  ++calls;
  if (!payload.is_response_ok()) wrong += kPieceBytes;
  time_.set(delay);
  if (time_.need_sync()) time_.sync();
}

void Software::compare(const std::uint8_t* copy, std::size_t bytes) {
  for (std::size_t i = 0; i < image_.size(); ++i)
    if (i >= bytes || copy[i] != image_[i]) ++wrong;
}

void Software::compare_directly() {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(parameters_.video_memory);
  tlm::tlm_dmi dmi;
  granted = socket->get_direct_mem_ptr(payload, dmi) && dmi.is_read_allowed();
  if (!granted) return;
  const std::uint64_t first = parameters_.video_memory;
  const bool covered = dmi.get_start_address() <= first && dmi.get_end_address() - first >= image_.size() - 1;
  compare(dmi.get_dmi_ptr() + (first - dmi.get_start_address()), covered ? image_.size() : 0);
}

void Software::invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) {
  withdrawn = granted;
}

std::vector<std::uint8_t> Software::look(std::uint64_t address, unsigned bytes) {
  std::vector<std::uint8_t> data(bytes);
  data.resize(debug(tlm::TLM_READ_COMMAND, address, data.data(), bytes));
  return data;
}

unsigned Software::debug(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data,
                         unsigned bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  return socket->transport_dbg(payload);
}
