// Prefetches, priorities, discards and CCTL: which lanes have a line to control, and what is asked of it; and
// what acts on all lines of a kind.
#include "warpline/sm/load_store_unit.h"

namespace warpline {
namespace {

/// CCTL of a line.
LineControl control_of(CctlOperation operation) {
  switch (operation) {
    case CctlOperation::prefetch_l1: return LineControl::prefetch_l1;
    case CctlOperation::prefetch_l2: return LineControl::prefetch_l2;
    case CctlOperation::write_back: return LineControl::write_back;
    case CctlOperation::invalidate: return LineControl::invalidate;
    case CctlOperation::reset: return LineControl::reset;
    case CctlOperation::invalidate_all:
    case CctlOperation::write_back_all: break;
  }
  return LineControl::none;
}

LineControl control_of(const MemOp& op) {
  switch (op.kind) {
    case MemKind::prefetch: return op.level == 1 ? LineControl::prefetch_l1 : LineControl::prefetch_l2;
    case MemKind::prefetch_uniform: return LineControl::prefetch_l1;
    case MemKind::apply_priority: return LineControl::apply_priority;
    case MemKind::discard: return LineControl::discard;
    case MemKind::cache_control: return control_of(op.cache_operation);
    default: return LineControl::none;
  }
}

}  // namespace

std::uint8_t maintenance_of(const MemOp& op, SmCache& cache) {
  if (op.kind != MemKind::cache_control) return 0;
  switch (op.cache_target) {
    case CctlTarget::indexed_constants: cache = SmCache::constant; return maintenance::kInvalidate;
    case CctlTarget::global_lines: return maintenance::kInvalidate | maintenance::kInvalidateSurfaces;
    case CctlTarget::local_lines: return maintenance::kInvalidateLocal;
    default: return 0;
  }
}

Out<RequestMessage>& LoadStoreUnit::maintenance_port(const Entry& e) const {
  switch (e.maintained) {
    case SmCache::l1_lg: return ports_.to_l1_lg;
    case SmCache::texture: return ports_.to_texture;
    case SmCache::constant: return ports_.to_constant;
  }
  return ports_.to_l1_lg;
}

Request* LoadStoreUnit::make_maintenance(Cycle now, std::uint8_t what, Scope scope, unsigned slot,
                                         unsigned token) {
  Request* r = owner_.engine().pool().allocate();
  r->maker = &owner_;
  r->command = Command::maintain;
  r->maintenance = what;
  r->scope = scope;
  sign(*r, now);
  r->warp = static_cast<std::uint16_t>(slot);
  r->token = static_cast<std::uint16_t>(token);
  ++counters_.fences;
  return r;
}

void LoadStoreUnit::send_maintenance(Cycle now, Entry& e, unsigned index) {
  Out<RequestMessage>& port = maintenance_port(e);
  if (!port.ready(now)) {
    head_.line_held = true;
    return;
  }
  head_.clear();
  port.send(now, {make_maintenance(now, e.maintenance, e.scope, e.slot, index)});
  pop_front();
}

bool LoadStoreUnit::invalidate_constants(Cycle now) {
  if (!ports_.to_constant.ready(now)) return false;
  ports_.to_constant.send(now,
                          {make_maintenance(now, maintenance::kInvalidate, Scope::none, 0, kDispatched)});
  ++dispatched_;
  return true;
}

/// Leaves to the head the lanes whose lines are to be controlled. Nothing is done to shared memory, and by
/// `prefetchu` nothing to local memory either (PTX ISA, "prefetch"). What names an address that is not mapped
/// is dropped: only a discard, which is a write, needs its line to be there.
std::optional<Fault> LoadStoreUnit::check_control(const Entry& e) {
  const MemKind kind = e.instruction->mem.kind;
  const bool anywhere = kind != MemKind::apply_priority && kind != MemKind::discard;
  head_.shared = 0;
  if (kind == MemKind::prefetch_uniform) head_.local = 0;
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const LaneMask bit = m & -m;
    const std::uint64_t x = e.access.address_of(lane);
    const bool global = (head_.global & bit) != 0;
    if (!anywhere && !global) return Fault{FaultKind::not_global, 0, 0, lane, x, nullptr};
    // PTX wants the line's own address; SASS, as traces have it, takes any in the line.
    if (!anywhere && map_.with_data && x % kLineBytes != 0)
      return Fault{FaultKind::misaligned, 0, 0, lane, x, nullptr};
    if (((head_.global | head_.local) & bit) == 0) continue;
    const unsigned needed = kind == MemKind::discard ? kLineBytes : 1;
    const bool mapped =
        global ? map_.space->find(x, needed, mapping_hint_) != nullptr : !map_.with_data || x < e.local_bytes;
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
