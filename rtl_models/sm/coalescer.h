#pragma once

#include <cstdint>

#include "warpline/base/byte_mask.h"
#include "warpline/base/types.h"
#include "warpline/sm/instruction_source.h"

namespace warpline {

/// The part of one warp access that falls on one 128-byte line.
struct LineAccess {
  std::uint64_t line = 0;  ///< line address
  SectorMask sectors = 0;
  LaneMask lanes = 0;
  unsigned word = 0;  ///< local memory: the 4-byte word of each lane's access; else 0
};

/// Splits a warp's addresses into lines: one LineAccess per distinct line, in the order of the
/// lowest lane that touches it. Accesses are aligned to their size, so none crosses a line.
class Coalescer {
 public:
  /// Starts on lanes `lanes` of `access`, each `bytes` wide at its address.
  void start(const MemoryAccess& access, LaneMask lanes, unsigned bytes);
  /// Likewise, and combines nothing: every lane is a LineAccess of its own, in lane order.
  void start_each(const MemoryAccess& access, LaneMask lanes, unsigned bytes);
  /// Starts on addresses of local memory: word w of each lane's access is an access of its own, at
  /// `local_address` of its offset. Bit w of `words`: word w is accessed.
  void start_local(const MemoryAccess& access, LaneMask lanes, unsigned bytes, unsigned words,
                   std::uint64_t warp_base);
  /// The next line. Pre: not done().
  LineAccess next();
  [[nodiscard]] bool done() const { return remaining_ == 0; }
  /// Forgets what it was started on: done().
  void clear() { remaining_ = 0; }
  /// Where the bytes of `lane` lie: the address of its (word of its) access.
  [[nodiscard]] std::uint64_t address(unsigned lane, unsigned word) const;
  /// Bytes that a lane has on a line: the access, or for local memory the word.
  [[nodiscard]] unsigned piece() const { return piece_; }

 private:
  const MemoryAccess* access_ = nullptr;
  LaneMask lanes_ = 0, remaining_ = 0;
  unsigned bytes_ = 0, piece_ = 0, word_ = 0;
  unsigned words_ = 1;  ///< bit w: word w is accessed
  bool each_ = false;
  bool local_ = false;
  bool contiguous_ = false;  ///< every lane active, each right after the one before
  std::uint64_t warp_base_ = 0;
};

/// Local memory is interleaved so that the same word of 32 lanes is one line: byte `offset` of lane
/// `lane` lies at warp_base + offset / 4 * 128 + lane * 4 + offset % 4.
constexpr std::uint64_t local_address(std::uint64_t warp_base, std::uint64_t offset, unsigned lane) {
  return warp_base + offset / 4 * kLineBytes + lane * 4U + offset % 4;
}

}  // namespace warpline
