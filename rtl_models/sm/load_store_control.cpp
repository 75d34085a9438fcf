// Prefetches, priorities and discards: which lanes have a line to control, and what is asked of it.
#include "warpline/sm/load_store_unit.h"

namespace warpline {
namespace {

LineControl control_of(const MemOp& op) {
  switch (op.kind) {
    case MemKind::prefetch: return op.level == 1 ? LineControl::prefetch_l1 : LineControl::prefetch_l2;
    case MemKind::prefetch_uniform: return LineControl::prefetch_l1;
    case MemKind::apply_priority: return LineControl::apply_priority;
    case MemKind::discard: return LineControl::discard;
    default: return LineControl::none;
  }
}

}  // namespace

/// Leaves to the head the lanes whose lines are to be controlled. A prefetch does nothing to shared memory,
/// `prefetchu` nothing to local memory either (PTX ISA, "prefetch"). Hints for addresses that are not mapped
/// are dropped: only a discard, which is a write, needs its line to be there.
std::optional<Fault> LoadStoreUnit::check_control(const Entry& e) {
  const MemKind kind = e.instruction->mem.kind;
  const bool prefetches = kind == MemKind::prefetch || kind == MemKind::prefetch_uniform;
  head_.shared = 0;
  if (kind == MemKind::prefetch_uniform) head_.local = 0;
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const LaneMask bit = m & -m;
    const std::uint64_t x = e.access.address_of(lane);
    const bool global = (head_.global & bit) != 0;
    if (!prefetches && !global) return Fault{FaultKind::not_global, 0, 0, lane, x, nullptr};
    if (!prefetches && x % kLineBytes != 0) return Fault{FaultKind::misaligned, 0, 0, lane, x, nullptr};
    if (((head_.global | head_.local) & bit) == 0) continue;
    const unsigned needed = kind == MemKind::discard ? kLineBytes : 1;
    const bool mapped = global ? map_.space->find(x, needed, mapping_hint_) != nullptr
                               : !map_.with_data || x < map_.local_bytes;
    if (mapped) continue;
    if (kind == MemKind::discard) return Fault{FaultKind::unmapped, 0, 0, lane, x, nullptr};
    head_.global &= ~bit;
    head_.local &= ~bit;
    ++counters_.dropped_controls;
  }
  return std::nullopt;
}

/// A control request names the sectors of its line that are mapped.
void LoadStoreUnit::fill_control(Request& r, const Entry& e, const LineAccess& line) {
  r.control = control_of(e.instruction->mem);
  r.sectors = kAllSectors;
  if (head_.space != Space::global) return;
  const auto lane = static_cast<unsigned>(__builtin_ctz(line.lanes));
  const Mapping* m = map_.space->find(e.access.address_of(lane), 1, mapping_hint_);
  // Mappings begin at a multiple of 256 bytes: the line's first sector is mapped if any is.
  for (unsigned s = 1; s < kSectorsPerLine; ++s)
    if (line.line + std::uint64_t{s} * kSectorBytes - m->base >= m->bytes)
      r.sectors = static_cast<SectorMask>(r.sectors & ~(1U << s));
}

}  // namespace warpline
