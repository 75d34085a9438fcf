#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// A memory access of a device, or of a GPU at a device, that was refused on the bus: a posted one had no
/// effect, of any other its requester has heard.
struct RefusedAccess {
  enum class Why : std::uint8_t {
    nobody,     ///< no memory and no device has the address, or its link is down
    forbidden,  ///< the IOMMU maps nothing there for this requester, or not for such an access
    device,     ///< a device has the address and does not take the access
    aborted,    ///< a device takes it, and cannot do it
    outside,    ///< the machine outside of the model whose memory it is did not do it
  };
  Cycle cycle = 0;  ///< in which the root complex has, or passes on, the refusal
  Why why = Why::nobody;
  FunctionId requester;
  FunctionId completer;  ///< the device that refused it; of others the root complex
  bool known = false;    ///< what it was; of a refusal that a device sends, only the address is
  TlpKind kind = TlpKind::memory_read;
  std::uint32_t bytes = 0;
  std::uint64_t address =
      0;  ///< on the bus: as the requester has it, or of one that a device refuses, physical
  template <class Archive>
  void archive(Archive& a) {
    a(cycle, why, requester, completer, known, kind, bytes, address);
  }
};

}  // namespace warpline
