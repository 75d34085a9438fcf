#pragma once

#include <algorithm>
#include <cstdint>

#include "rtl_models/base/types.h"

namespace warpline {

/// Where the entries of a GPU's page tables lie in its video memory: as many of 8 bytes as the memory has
/// pages, and a level above for every 512 of them, as in tables of 4 KiB. An entry follows from the page's
/// number alone: pages that are further apart than the memory is large may share one. Nobody writes
/// entries, and nobody looks at what is read of them: only where they lie counts. A program that fills the
/// memory has its own bytes there.
class PageTables {
 public:
  static constexpr unsigned kEntryBytes = 8, kLevelBits = 9;
  /// Pre: the memory has 1 MiB or more.
  PageTables(std::uint64_t vidmem_bytes, std::uint64_t page_bytes)
      // Buffers come from the memory's begin, local memory and code from its end.
      : end_((vidmem_bytes - vidmem_bytes / kAboveShare) / kLineBytes * kLineBytes),
        pages_(vidmem_bytes / page_bytes) {}

  /// The entry of `page` at `level`, of which 0 is the last one read.
  [[nodiscard]] PhysicalAddress entry(std::uint64_t page, unsigned level) const {
    std::uint64_t first = end_ - bytes_of(0);
    for (unsigned l = 1; l <= level; ++l) first -= bytes_of(l);
    const std::uint64_t entries = bytes_of(level) / kEntryBytes;
    return physical(Aperture::vidmem, first + (page >> kLevelBits * level) % entries * kEntryBytes);
  }

 private:
  static constexpr unsigned kAboveShare = 8;
  /// Of a level's entries: whole lines.
  [[nodiscard]] std::uint64_t bytes_of(unsigned level) const {
    const std::uint64_t covered = std::uint64_t{1} << kLevelBits * level;
    const std::uint64_t bytes = (pages_ + covered - 1) / covered * kEntryBytes;
    return std::max<std::uint64_t>((bytes + kLineBytes - 1) / kLineBytes, 1) * kLineBytes;
  }
  std::uint64_t end_;
  std::uint64_t pages_;
};

}  // namespace warpline
