#pragma once

#include <deque>
#include <memory>
#include <systemc>

#include "rtl_models/base/visibility.h"
#include "rtl_models/tlm/sockets.h"

namespace warpline {

/// What the modules of all blocks share: they are made in an engine, which outlives them; they answer access
/// that knows no time; and the block inside is their own, or belongs to a netlist.
class WARPLINE_PUBLIC BlockModule : public sc_core::sc_module, public UntimedAccess {
 public:
  /// No byte is served.
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  /// Never granted.
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;

 protected:
  using sc_module::sc_module;
};

/// A block inside its module.
template <class Block>
using Held = std::shared_ptr<Block>;
/// One that belongs to somebody else, and outlives the module.
template <class Block>
[[nodiscard]] Held<Block> borrowed(Block& block) {
  return Held<Block>(Held<Block>(), &block);
}

}  // namespace warpline
