#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tlm>

#include "rtl_models/base/types.h"
#include "rtl_models/tlm/sockets.h"

namespace warpline {

/// Serves a debug payload from `bytes` bytes of memory at `memory`, which hold the addresses from
/// `base` on. Returns the number of bytes moved.
unsigned debug_access(tlm::tlm_generic_payload& payload, std::uint8_t* memory, std::uint64_t base,
                      std::uint64_t bytes);

/// Serves a debug payload line by line: access(address, bytes, count) moves the bytes of one line, or some of
/// them, and returns how many it moved. Returns the number of bytes moved before the first that could not be.
template <class F>
unsigned debug_by_lines(tlm::tlm_generic_payload& payload, F&& access) {
  const unsigned length = payload.get_data_length();
  unsigned moved = 0;
  while (moved < length) {
    const PhysicalAddress at{payload.get_address() + moved};
    const unsigned part = std::min(length - moved, kLineBytes - offset_in_line(at));
    const unsigned n = access(at, payload.get_data_ptr() + moved, part);
    moved += n;
    if (n != part) break;
  }
  payload.set_response_status(moved != 0 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return moved;
}

/// Debug access through `socket` to whatever lies behind it; returns the number of bytes moved.
unsigned debug_through(InitiatorSocket& socket, const tlm::tlm_generic_payload& like, PhysicalAddress address,
                       std::uint8_t* bytes, unsigned count);

/// "to_dram_3": the name of one of several sockets.
inline std::string socket_name(const char* name, std::size_t i) {
  return std::string(name) + "_" + std::to_string(i);
}

}  // namespace warpline
