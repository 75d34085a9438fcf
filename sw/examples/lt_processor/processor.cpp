#include "processor.h"

#include <utility>

Processor::Processor(const sc_core::sc_module_name& name, Program program)
    : sc_module(name), program_(std::move(program)) {
  SC_HAS_PROCESS(Processor);
  SC_THREAD(run);
}

void Processor::run() {
  time_.reset();
  program_(*this);
  time_.sync();
  done = true;
}

void Processor::read(std::uint64_t address, void* data, unsigned bytes) {
  access(tlm::TLM_READ_COMMAND, address, data, bytes);
}

void Processor::write(std::uint64_t address, const void* data, unsigned bytes) {
  access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data),
         bytes);  // a target of a write only reads it
}

void Processor::access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_core::sc_time delay = time_.get_local_time();
  socket->b_transport(payload, delay);
  time_.set(delay);  // zero, where it has waited
  ++accesses;
  refused += payload.is_response_ok() ? 0 : 1;
  sync_if_needed();
}

void Processor::work(unsigned instructions) {
  time_.inc(sc_core::sc_time(instructions, sc_core::SC_NS));
  sync_if_needed();
}

void Processor::sync_if_needed() {
  if (!time_.need_sync()) return;
  time_.sync();
  ++syncs;
}
