#include "platform/systemc/dram_bytes.h"

#include <array>

#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/tlm/report.h"

namespace warpline {

DramBytes::DramBytes(L2SliceModule& slice) : slice_(slice) {
  slice.slice().posted().watch();
  slice.slice().core().fetch_bytes_from(this);
}

bool DramBytes::access(bool write, PhysicalAddress at, std::uint8_t* bytes, unsigned count) {
  InitiatorSocket& socket = slice_.to_dram[slice_.slice().dram_port_of(at)];
  tlm::tlm_generic_payload payload;
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(at.value);
  payload.set_data_ptr(bytes);
  payload.set_data_length(count);
  payload.set_streaming_width(count);
  if (socket->transport_dbg(payload) == count) return true;
  protest(socket, "DRAM that keeps bytes of its own moved fewer by transport_dbg than it was asked to");
  return false;
}

bool DramBytes::peek(PhysicalAddress line, std::uint8_t* bytes) {
  if (!access(false, line, bytes, kLineBytes)) return false;
  slice_.slice().posted().overlay(line, bytes, kLineBytes);
  return true;
}

void DramBytes::poke(PhysicalAddress at, const std::uint8_t* bytes, unsigned count) {
  std::array<std::uint8_t, kLineBytes> copy{};
  __builtin_memcpy(copy.data(), bytes, count);
  static_cast<void>(access(true, at, copy.data(), count));
}

}  // namespace warpline
