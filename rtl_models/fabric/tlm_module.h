#pragma once

#include <deque>
#include <string>

#include "warpline/fabric/tlm_initiator.h"
#include "warpline/fabric/tlm_target.h"

namespace warpline {

/// What the modules of all blocks share: an engine, and the answer to access that is not timed.
class BlockModule : public sc_core::sc_module, public UntimedAccess {
 protected:
  BlockModule(const sc_core::sc_module_name& name, EngineModule& engine) : sc_module(name), engine_(engine) {}
  [[nodiscard]] EngineModule& engine() { return engine_; }

 public:
  /// Loosely timed access is not built yet: an error report that names the module.
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
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

/// "to_dram_3": the name of one of several sockets.
inline std::string socket_name(const char* name, std::size_t i) {
  return std::string(name) + "_" + std::to_string(i);
}

}  // namespace warpline
