#pragma once

#include <algorithm>
#include <deque>
#include <string>

#include "rtl_models/tlm/initiator_socket.h"
#include "rtl_models/tlm/target_socket.h"

namespace warpline {

/// What the modules of all blocks share: an engine, and the answer to access that knows no time.
class BlockModule : public sc_core::sc_module, public UntimedAccess {
 protected:
  BlockModule(const sc_core::sc_module_name& name, EngineModule& engine) : sc_module(name), engine_(engine) {}
  [[nodiscard]] EngineModule& engine() { return engine_; }

 public:
  /// No byte is served.
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  /// Never granted.
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;

 private:
  EngineModule& engine_;
};

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
