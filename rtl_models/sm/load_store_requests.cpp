// How the load/store unit turns lanes into requests and answers back into lanes.
#include <algorithm>

#include "warpline/base/mutation.h"
#include "warpline/sm/load_store_unit.h"

namespace warpline {
namespace {

/// Marks the tags of local lines, so that they never look like global ones.
constexpr std::uint64_t kLocalTag = std::uint64_t{1} << 63U;

/// Bytes of an atomic's values that LaneAtomic has; LaneAtomicHigh has the others.
constexpr unsigned kLowBytes = 8;

bool streams(const MemOp& op) {
  return op.cache_operator == CacheOperator::cs || op.cache_operator == CacheOperator::lu;
}

EvictionPriority l1_priority_of(const MemOp& op) {
  switch (op.l1_eviction) {
    case L1Eviction::none: break;
    case L1Eviction::normal: return EvictionPriority::normal;
    case L1Eviction::unchanged: return EvictionPriority::unchanged;
    case L1Eviction::first: return EvictionPriority::first;
    case L1Eviction::last: return EvictionPriority::last;
    case L1Eviction::no_allocate: return EvictionPriority::no_allocate;
  }
  if (streams(op)) return EvictionPriority::first;
  // The non-coherent cache is not passed by; what `.cg` asks of it is to keep nothing.
  const bool keeps_nothing = op.is_noncoherent && op.cache_operator == CacheOperator::cg;
  return keeps_nothing ? EvictionPriority::no_allocate : EvictionPriority::none;
}

EvictionPriority l2_priority_of(const MemOp& op) {
  if (op.l2_eviction != L2Eviction::none) return priority_of(op.l2_eviction);
  return streams(op) ? EvictionPriority::first : EvictionPriority::none;
}

/// The scope at which L1 and L2 must treat the access as strong; none: weak.
Scope strong_scope(const MemOp& op) {
  if (op.is_volatile) return Scope::sys;
  if (op.is_atomic()) return std::max(op.scope, Scope::gpu);
  return op.is_strong() ? op.scope : Scope::none;
}

Command command_of(const MemOp& op) {
  switch (op.kind) {
    case MemKind::store:
    case MemKind::surface_store: return Command::write;
    case MemKind::atomic: return Command::atomic;
    case MemKind::reduction: return Command::reduce;
    case MemKind::prefetch:
    case MemKind::prefetch_uniform:
    case MemKind::apply_priority:
    case MemKind::discard:
    case MemKind::cache_control: return Command::control;
    default: return Command::read;
  }
}

/// Sectors of the naturally aligned `bytes` block around each touched sector of the line at `line`, laid
/// out as Request::prefetch and as far as they are mapped.
SectorMask prefetch_sectors(unsigned bytes, SectorMask sectors, const Mapping& m, std::uint64_t line) {
  SectorMask wanted = 0;
  switch (bytes) {
    case 64:
      wanted = static_cast<SectorMask>(((sectors & 3U) != 0 ? 3U : 0U) | ((sectors & 12U) != 0 ? 12U : 0U));
      break;
    case 128: wanted = kAllSectors; break;
    case 256: wanted = kAllSectors | kAllSectors << kOtherLineShift; break;
    default: return 0;
  }
  // Blocks cross no page: mappings begin at a multiple of 256 bytes.
  constexpr std::uint64_t kBlockBytes = 256;
  const std::uint64_t block = line & ~(kBlockBytes - 1);
  if (m.bytes - (block - m.base) >= kBlockBytes) return wanted;
  for (unsigned s = 0; s < 2 * kSectorsPerLine; ++s) {
    const std::uint64_t first = s < kSectorsPerLine ? line : line ^ kLineBytes;
    const std::uint64_t at = first + std::uint64_t{s % kSectorsPerLine} * kSectorBytes;
    if (at - m.base >= m.bytes) wanted = static_cast<SectorMask>(wanted & ~(1U << s));
  }
  return wanted;
}

}  // namespace

void LoadStoreUnit::fill_request(Request& r, const Entry& e, const LineAccess& line) {
  const MemOp& op = e.instruction->mem;
  r.command = command_of(op);
  r.sectors = line.sectors;
  r.cache_operator = op.cache_operator;
  r.l1_priority = l1_priority_of(op);
  r.l2_priority = l2_priority_of(op);
  head_.device = false;
  switch (head_.space) {
    case Space::global:
    case Space::texture: {
      const Mapping* m = head_.mapping;
      if (m == nullptr) {
        // The lanes' addresses are mapped, so the line's first touched byte is.
        const auto lane = static_cast<unsigned>(__builtin_ctz(line.lanes));
        m = map_.space->find(e.access.address_of(lane), 1, mapping_hint_);
      }
      r.virtual_line = VirtualAddress{line.line};
      r.line = PhysicalAddress{m->physical.value + (line.line - m->base)};
      r.region = m->region;
      head_.device = m->device;
      r.scope = strong_scope(op);
      r.surface = op.kind == MemKind::surface_load || op.kind == MemKind::surface_store;
      r.no_l1 = op.cache_operator == CacheOperator::cg || op.bypass_l1;
      unsigned block = op.prefetch_bytes;
      if (op.cache_hint) block = std::max(block, apply_policy(r, e, line));
      // Only of video memory: what lies beyond a bus is not read for a hint.
      if (block != 0 && r.command == Command::read && aperture_of(r.line) == Aperture::vidmem)
        r.prefetch = prefetch_sectors(block, line.sectors, *m, line.line);
      break;
    }
    case Space::local:
      r.virtual_line = VirtualAddress{kLocalTag | line.line};
      r.line = PhysicalAddress{map_.local_base.value + line.line};
      r.local = true;
      r.last_use = r.command == Command::read && streams(op);
      break;
    default:
      r.virtual_line = VirtualAddress{line.line};
      r.line = PhysicalAddress{map_.constant_base.value + line.line};
      break;
  }
  if (head_.exact) {
    r.exact = r.no_l1 = true;
    r.scope = Scope::sys;
    ++counters_.mmio_transactions;
  }
  switch (r.command) {
    case Command::read:
      if (reads_device_past_l1(r, op)) {
        r.exact = true;
        r.bytes = {};
        mark_touched(r, e, line);
        break;
      }
      if (!r.exact) break;
      mmio_reads_ = 1;
      mmio_lane_ = static_cast<unsigned>(__builtin_ctz(line.lanes));
      r.bytes = {};
      r.bytes.set(offset_in_line(PhysicalAddress{e.access.address_of(mmio_lane_)}), op.bytes_per_lane());
      if (mutated(Mutation::mmio_reads_sectors)) r.bytes = ByteMask::of_sectors(line.sectors);
      break;
    case Command::write: fill_write(r, e, line); break;
    case Command::atomic:
    case Command::reduce: fill_atomics(r, e, line); break;
    case Command::control: fill_control(r, e, line); break;
    case Command::maintain: break;
  }
}

/// Whether it is a load of a device's memory that no cache may keep: reading more of that than the program
/// asks for might have effects.
bool LoadStoreUnit::reads_device_past_l1(const Request& r, const MemOp& op) const {
  return head_.device && !head_.exact && op.kind == MemKind::load && !op.is_noncoherent &&
         (r.beyond_cta() || r.no_l1 || op.cache_operator == CacheOperator::cv);
}

/// Marks the bytes that the lanes of `line` read or write.
void LoadStoreUnit::mark_touched(Request& r, const Entry& e, const LineAccess& line) const {
  const MemOp& op = e.instruction->mem;
  for (LaneMask m = line.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const auto offset = static_cast<unsigned>(head_.coalescer.address(lane, line.word) - line.line);
    if (op.sink_lanes == 0 || r.local) {  // of local memory, words that are sinks have no line
      r.bytes.set(offset, head_.coalescer.piece());
      continue;
    }
    for (unsigned n = 0; n < op.vector; ++n)
      if (op.has_element(n)) r.bytes.set(offset + n * size_of(op.type), size_of(op.type));
  }
}

void LoadStoreUnit::fill_write(Request& r, const Entry& e, const LineAccess& line) const {
  r.bytes = {};  // the pool hands out the last user's
  mark_touched(r, e, line);
  if (!map_.with_data) return;
  for (LaneMask m = line.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const auto offset = static_cast<unsigned>(head_.coalescer.address(lane, line.word) - line.line);
    __builtin_memcpy(&r.data[offset], e.access.lane_data(lane) + std::size_t{line.word} * 4,
                     head_.coalescer.piece());
  }
}

void LoadStoreUnit::fill_atomics(Request& r, const Entry& e, const LineAccess& line) {
  const MemOp& op = e.instruction->mem;
  const unsigned bytes = op.bytes_per_lane();  // up to 8, or 16
  const bool swaps = op.atomic == AtomicOperation::compare_and_swap;
  AtomicBlock* block = owner_.engine().pool().allocate_atomics();
  block->operation = op.atomic;
  block->type = op.type;
  block->vector = op.vector;
  for (LaneMask m = line.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    LaneAtomic& part = block->lanes[block->count++];
    part.lane = static_cast<std::uint8_t>(lane);
    part.offset = static_cast<std::uint8_t>(head_.coalescer.address(lane, 0) - line.line);
    part.operand = part.second = part.old_value = 0;
    if (!map_.with_data) continue;
    const std::uint8_t* data = e.access.lane_data(lane);
    if (bytes > kLowBytes) {
      LaneAtomicHigh& high = block->high[block->count - 1];
      high = {};
      __builtin_memcpy(&part.operand, data, kLowBytes);
      __builtin_memcpy(&high.operand, data + kLowBytes, kLowBytes);
      if (!swaps) continue;
      __builtin_memcpy(&part.second, data + bytes, kLowBytes);
      __builtin_memcpy(&high.second, data + bytes + kLowBytes, kLowBytes);
      continue;
    }
    __builtin_memcpy(&part.operand, data, bytes);
    if (swaps) part.second = e.access.second[lane];
  }
  r.atomics = block;
}

void LoadStoreUnit::scatter(Entry& e, const Request& r) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  if (r.command == Command::atomic) {
    for (unsigned i = 0; i < r.atomics->count; ++i) {
      const LaneAtomic& part = r.atomics->lanes[i];
      __builtin_memcpy(e.access.lane_data(part.lane), &part.old_value, std::min(bytes, kLowBytes));
      if (bytes > kLowBytes)
        __builtin_memcpy(e.access.lane_data(part.lane) + kLowBytes, &r.atomics->high[i].old_value, kLowBytes);
    }
    return;
  }
  if (e.exact) {
    const std::uint64_t offset = e.access.address_of(mmio_lane_) - r.virtual_line.value;
    __builtin_memcpy(e.access.lane_data(mmio_lane_), &r.data[offset], bytes);
    return;
  }
  if (r.local) {
    const std::uint64_t line = r.virtual_line.value & ~kLocalTag;
    const unsigned piece = std::min(bytes, 4U);
    for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      for (unsigned word = 0; word * 4 < bytes; ++word) {
        const std::uint64_t at =
            local_address(local_warp_base(e.slot), e.access.address_of(lane) + std::uint64_t{word} * 4, lane);
        if (at - line < kLineBytes)
          __builtin_memcpy(e.access.lane_data(lane) + std::size_t{word} * 4, &r.data[at - line], piece);
      }
    }
    return;
  }
  if (e.instruction->mem.kind != MemKind::load) return scatter_image(e, r);
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t offset = e.access.address_of(lane) - r.virtual_line.value;
    if (offset < kLineBytes) __builtin_memcpy(e.access.lane_data(lane), &r.data[offset], bytes);
  }
}

}  // namespace warpline
