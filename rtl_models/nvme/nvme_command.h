#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/base/bits.h"
#include "rtl_models/nvme/registers/nvme.h"

namespace warpline {

/// As a namespace's number: all of them.
inline constexpr std::uint32_t kAllNamespaces = 0xFFFF'FFFF;

/// How a command ends.
struct NvmeStatus {
  std::uint16_t code = 0;  ///< regs::nvme::kStatusCode...
  bool do_not_retry = false;

  [[nodiscard]] bool ok() const { return code == 0; }
};
/// One that would be the same if the command were tried again.
[[nodiscard]] constexpr NvmeStatus refusal(unsigned code) {
  return {static_cast<std::uint16_t>(code), true};
}
/// One that need not be.
[[nodiscard]] constexpr NvmeStatus failure(unsigned code) {
  return {static_cast<std::uint16_t>(code), false};
}

/// An entry of a submission queue (COMMAND in the manual).
struct NvmeCommand {
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint16_t id = 0;
  std::uint32_t nsid = 0;
  std::uint64_t data1 = 0, data2 = 0;
  std::array<std::uint32_t, 6> dwords{};  ///< 10 to 15

  [[nodiscard]] std::uint32_t dword(unsigned n) const { return dwords[n - 10]; }
  [[nodiscard]] unsigned fuse() const { return flags & 3U; }
  [[nodiscard]] unsigned psdt() const { return flags >> 6U; }
  /// Of commands that name blocks.
  [[nodiscard]] std::uint64_t first_block() const { return dword(10) | std::uint64_t{dword(11)} << 32U; }
  [[nodiscard]] std::uint32_t blocks() const { return (dword(12) & 0xFFFFU) + 1; }

  [[nodiscard]] static NvmeCommand decode(const std::uint8_t* bytes) {
    using namespace regs::nvme;
    NvmeCommand c;
    c.opcode = bytes[kCommandOpcode];
    c.flags = bytes[kCommandFlags];
    c.id = static_cast<std::uint16_t>(number_at(bytes + kCommandId, 2));
    c.nsid = static_cast<std::uint32_t>(number_at(bytes + kCommandNamespace, 4));
    c.data1 = number_at(bytes + kCommandData1, 8);
    c.data2 = number_at(bytes + kCommandData2, 8);
    for (unsigned n = 0; n < c.dwords.size(); ++n)
      c.dwords[n] = static_cast<std::uint32_t>(number_at(bytes + kCommandDword10 + 4 * n, 4));
    return c;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(opcode, flags, id, nsid, data1, data2, dwords);
  }
};

}  // namespace warpline
