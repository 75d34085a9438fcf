#pragma once

#include "rtl_models/sim/loose_target.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {

/// Does what `r`, a read, a write, an atomic or a reduction, asks of the bytes of its line, which begin at
/// `line`.
void perform_on(std::uint8_t* line, Request& r);

/// Performs requests on the bytes of video memory themselves, past all caches, in a cycle: functional runs
/// have theirs performed so. These bytes are always the newest: L2, the point of coherence, keeps none of
/// its own of video memory.
class VidmemAccess final : public LooseTarget {
 public:
  /// `vidmem` outlives it.
  explicit VidmemAccess(MemoryImage& vidmem) : vidmem_(vidmem) {}
  /// Whether `r` is one of its requests. Others, of system and peer memory, of devices, and what orders
  /// accesses, take the way of loosely timed ones.
  [[nodiscard]] static bool takes(const Request& r) {
    return r.command != Command::maintain && aperture_of(r.line) == Aperture::vidmem;
  }
  /// Where `bytes` bytes from `at` on lie; null: not in video memory.
  [[nodiscard]] std::uint8_t* find(PhysicalAddress at, unsigned bytes) const {
    const std::uint64_t offset = offset_in_aperture(at);
    const bool inside = aperture_of(at) == Aperture::vidmem && offset + bytes <= vidmem_.size();
    return inside ? vidmem_.at(offset) : nullptr;
  }
  /// Pre: takes(r).
  void perform(Request& r, Cycle& at) override;

 private:
  MemoryImage& vidmem_;
};

}  // namespace warpline
