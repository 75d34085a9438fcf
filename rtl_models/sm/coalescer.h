#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/lane_addresses.h"

namespace warpline {

struct Mapping;

/// The part of one warp access that falls on one 128-byte line.
struct LineAccess {
  VirtualAddress line;  ///< as the caches above L2 know it
  SectorMask sectors = 0;
  Space space = Space::generic;  ///< global, constant, local, shared_cluster; texture: of any image
  LaneMask lanes = 0;
  unsigned word = 0;                 ///< local memory: the 4-byte word of each lane's access; else 0
  const Mapping* mapping = nullptr;  ///< of a global line, where it is known already
};

/// The sectors of a line from the one of byte `first` to that of byte `last` of the same line.
constexpr SectorMask sectors_between(std::uint64_t first, std::uint64_t last) {
  const auto lo = static_cast<unsigned>(first / kSectorBytes % kSectorsPerLine);
  const auto hi = static_cast<unsigned>(last / kSectorBytes % kSectorsPerLine);
  return static_cast<SectorMask>(((2U << hi) - 1) & ~((1U << lo) - 1));
}

/// Local memory is interleaved so that the same word of 32 lanes is one line: byte `at` of lane `lane` lies
/// at warp_base + at / 4 * 128 + lane * 4 + at % 4.
constexpr VirtualAddress local_address(VirtualAddress warp_base, LocalAddress at, unsigned lane) {
  return VirtualAddress{warp_base.value + at.value / 4 * kLineBytes + lane * 4U + at.value % 4};
}

/// Splits a warp's addresses into lines: one LineAccess per distinct line, in the order of the
/// lowest lane that touches it. Accesses are aligned to their size, so none crosses a line.
class Coalescer {
 public:
  /// Starts on addresses of global memory, where each lane accesses `bytes`.
  void start(const LaneAddresses<VirtualAddress>& addresses, unsigned bytes) {
    begin(addresses, bytes, Space::global);
  }
  /// Starts on such addresses and combines nothing: every lane is a LineAccess of its own, in lane order.
  void start_each(const LaneAddresses<VirtualAddress>& addresses, unsigned bytes) {
    begin(addresses, bytes, Space::global);
    each_ = true;
    contiguous_ = false;
  }
  /// Starts on elements of one surface.
  void start_elements(const LaneAddresses<VirtualAddress>& addresses, unsigned bytes) {
    begin(addresses, bytes, Space::texture);
  }
  /// Starts on addresses in the shared memory of other CTAs of the cluster.
  void start_remote(const LaneAddresses<VirtualAddress>& addresses, unsigned bytes) {
    begin(addresses, bytes, Space::shared_cluster);
  }
  /// Starts on addresses of the constant banks.
  void start_constant(const LaneAddresses<ConstantAddress>& addresses, unsigned bytes) {
    begin(addresses.as<VirtualAddress>(), bytes, Space::constant);
  }
  /// Starts on addresses of local memory: word w of each lane's access is an access of its own, at
  /// `local_address` of its offset. Bit w of `words`: word w is accessed.
  void start_local(const LaneAddresses<LocalAddress>& addresses, unsigned bytes, unsigned words,
                   VirtualAddress warp_base);
  /// The next line. Pre: not done().
  LineAccess next();
  [[nodiscard]] bool done() const { return remaining_ == 0; }
  /// Forgets what it was started on: done().
  void clear() { remaining_ = 0; }
  /// Where the bytes of `lane` lie: the address of its (word of its) access.
  [[nodiscard]] VirtualAddress address(unsigned lane, unsigned word) const {
    const VirtualAddress at = addresses_[lane];
    if (space_ != Space::local) return at;
    return local_address(warp_base_, LocalAddress{at.value + std::uint64_t{word} * 4}, lane);
  }
  /// Whether every lane is active, and goes right behind the one before.
  [[nodiscard]] bool contiguous() const { return contiguous_; }
  /// Bytes that a lane has on a line: the access, or for local memory the word.
  [[nodiscard]] unsigned piece() const { return piece_; }

 private:
  void begin(const LaneAddresses<VirtualAddress>& addresses, unsigned bytes, Space space);
  /// Finds which lanes share a line, of all that the word's lines are asked of.
  [[gnu::noinline]] void group();
  LaneAddresses<VirtualAddress> addresses_;  ///< of local memory: the offsets, as numbers
  LaneMask remaining_ = 0;
  unsigned bytes_ = 0, piece_ = 0, word_ = 0;
  unsigned words_ = 1;  ///< bit w: word w is accessed
  Space space_ = Space::global;
  bool each_ = false;
  bool contiguous_ = false;
  bool grouped_ = false;  ///< group() was called for this word
  VirtualAddress warp_base_;
  // Of each lane that is the lowest on its line, once grouped: the lanes on it, and their sectors.
  std::array<LaneMask, kWarpLanes> together_;
  std::array<SectorMask, kWarpLanes> sectors_;
};

}  // namespace warpline
