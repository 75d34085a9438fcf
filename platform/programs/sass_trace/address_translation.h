#pragma once

#include <cstdint>

#include "platform/programs/sass_trace/header.h"
#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline::sass {

/// Per-thread local memory of a replayed kernel. A trace names addresses in the 16 MiB local window, with the
/// stack at its top and no word of its size; offsets are taken modulo this.
inline constexpr std::uint64_t kLocalBytes = 16384;

/// From the addresses of the recording GPU to those of this platform (sm/address_windows.h):
/// - global addresses stay as they are;
/// - a shared address loses the `shmem base_addr` of the header if it lies in the window there;
/// - a local address likewise, and is taken modulo kLocalBytes;
/// - a generic one that lies in one of the two windows moves into ours;
/// - a constant one is taken modulo the size of all banks.
/// A header that does not tell a window (0) has none.
class AddressTranslation {
 public:
  explicit AddressTranslation(const TraceHeader& header)
      : shared_(header.shared_base), local_(header.local_base) {}
  [[nodiscard]] std::uint64_t translate(Space space, std::uint64_t address) const;
  /// Translates what the lanes of `mask` access. Pre: mask is not 0; |stride| <= 2^56.
  void apply(Space space, LaneMask mask, MemoryAccess& access) const;
  /// Whether a generic address lies in none of the windows.
  [[nodiscard]] bool is_global(std::uint64_t address) const {
    return !in_shared(address) && !in_local(address);
  }

 private:
  [[nodiscard]] bool in_shared(std::uint64_t address) const;
  [[nodiscard]] bool in_local(std::uint64_t address) const;
  std::uint64_t shared_, local_;
};

}  // namespace warpline::sass
