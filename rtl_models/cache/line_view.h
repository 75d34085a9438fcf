#pragma once

#include <cstdint>

#include "rtl_models/base/byte_mask.h"
#include "rtl_models/cache/miss_table.h"
#include "rtl_models/cache/tag_array.h"

namespace warpline {

/// What a debugger sees of a line in a cache. Looking changes nothing.
struct LineView {
  bool present = false;
  SectorMask valid = 0;    ///< sectors whose 32 bytes can all be read
  SectorMask awaited = 0;  ///< sectors that were asked for below, and are not here yet
  SectorMask copied = 0;   ///< of L2 with two partitions: sectors of a copy in the other one
  ByteMask dirty;          ///< bytes that are newer than the level below
  EvictionClass eviction = EvictionClass::normal;
  LineKind kind = LineKind::global;
  const std::uint8_t* bytes = nullptr;  ///< its 128 bytes; null: it has none of its own
};

/// The line of this number in a cache of these tags and miss registers; `key` picks its set.
[[nodiscard]] inline LineView view_of(const TagArray& tags, const MissTable& misses, std::uint64_t number,
                                      std::uint64_t key) {
  LineView view;
  if (const std::uint16_t entry = misses.find(number); entry != MissTable::kNone)
    view.awaited = misses[entry].pending;
  const std::uint32_t index = tags.find(number, key);
  if (index == TagArray::kAbsent) return view;
  const LineState& state = tags.state(index);
  view.present = true;
  view.valid = state.valid_sectors();
  view.dirty = tags.dirty(index);
  view.eviction = static_cast<EvictionClass>(state.eviction);
  view.kind = static_cast<LineKind>(state.kind);
  return view;
}

}  // namespace warpline
