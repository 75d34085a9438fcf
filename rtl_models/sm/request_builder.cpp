#include "rtl_models/sm/request_builder.h"

#include <algorithm>
#include <array>

#include "rtl_models/isa/cache_policy.h"
#include "rtl_models/sim/atomics.h"
#include "rtl_models/sim/cluster_address.h"
#include "rtl_models/sm/sm_mutations.h"

namespace warpline {
namespace {

using Priority = EvictionPriority;
/// In the order of L1Eviction, and of L2Eviction.
constexpr std::array<Priority, 6> kL1Priorities = {Priority::none,  Priority::normal, Priority::unchanged,
                                                   Priority::first, Priority::last,   Priority::no_allocate};
constexpr std::array<Priority, 5> kL2Priorities = {Priority::none, Priority::normal, Priority::first,
                                                   Priority::last, Priority::unchanged};

EvictionPriority priority_of(L2Eviction eviction) {
  return kL2Priorities[static_cast<std::size_t>(eviction)];
}

bool streams(const MemOp& op) {
  return op.cache_operator == CacheOperator::cs || op.cache_operator == CacheOperator::lu;
}

EvictionPriority l1_priority_of(const MemOp& op) {
  if (op.l1_eviction != L1Eviction::none) return kL1Priorities[static_cast<std::size_t>(op.l1_eviction)];
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
  if (op.reads()) return op.kind == MemKind::atomic ? Command::atomic : Command::read;
  if (op.controls_lines()) return Command::control;
  if (op.kind == MemKind::async_copy) return Command::read;
  return op.atomic != AtomicOperation::none ? Command::reduce : Command::write;
}

/// CCTL of a line.
LineControl control_of(CctlOperation operation) {
  switch (operation) {
    case CctlOperation::prefetch_l1: return LineControl::prefetch_l1;
    case CctlOperation::prefetch_l2: return LineControl::prefetch_l2;
    case CctlOperation::write_back: return LineControl::write_back;
    case CctlOperation::invalidate: return LineControl::invalidate;
    case CctlOperation::reset: return LineControl::reset;
    default: return LineControl::none;
  }
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

/// Sectors of the naturally aligned `bytes` block around each touched sector of the line at `line`, laid
/// out as Request::prefetch and as far as they are mapped.
SectorMask prefetch_sectors(unsigned bytes, SectorMask sectors, const Mapping& m, VirtualAddress line) {
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
  const std::uint64_t block = line.value & ~(kBlockBytes - 1);
  if (m.bytes - (block - m.base) >= kBlockBytes) return wanted;
  for (unsigned s = 0; s < 2 * kSectorsPerLine; ++s) {
    const std::uint64_t first = s < kSectorsPerLine ? line.value : line.value ^ kLineBytes;
    const VirtualAddress at{first + std::uint64_t{s % kSectorsPerLine} * kSectorBytes};
    if (!m.holds(at, 1)) wanted = static_cast<SectorMask>(wanted & ~(1U << s));
  }
  return wanted;
}

/// Of the line at `line`, the sectors that are mapped. Mappings begin at a multiple of 256 bytes: the first
/// is if any is.
SectorMask mapped_sectors(const Mapping& m, VirtualAddress line) {
  SectorMask sectors = kAllSectors;
  for (unsigned s = 1; s < kSectorsPerLine; ++s)
    if (!m.holds(VirtualAddress{line.value + std::uint64_t{s} * kSectorBytes}, 1))
      sectors = static_cast<SectorMask>(sectors & ~(1U << s));
  return sectors;
}

/// Whether it is a load of a device's memory that no cache may keep: reading more of that than the program
/// asks for might have effects.
bool reads_device_past_l1(const Request& r, const ResolvedAccess& access, const Mapping* mapping) {
  const MemOp& op = access.op();
  return mapping != nullptr && mapping->device && !access.exact() && op.kind == MemKind::load &&
         !op.is_noncoherent && (r.beyond_cta() || r.no_l1 || op.cache_operator == CacheOperator::cv);
}

/// Where the mbarrier is that `lane` operates on, or tells: an offset in `.shared::cluster`.
std::uint64_t mbarrier_of(const ResolvedAccess& access, unsigned lane) {
  return access.op().kind == MemKind::async_store ? access.told(lane)
                                                  : access.remote()[lane].value & ~kClusterTag;
}

/// Where the line of another CTA's shared memory lies.
PhysicalAddress address_in_cluster(const ClusterPlace& cluster, VirtualAddress line) {
  const std::uint64_t offset = line.value & ~kClusterTag;
  ClusterAddress at;
  at.rank = static_cast<unsigned>(AddressWindows::rank_code(offset)) - 1;
  at.sm = cluster.sms.at(at.rank);
  at.cluster = cluster.number;
  at.offset = static_cast<std::uint32_t>(AddressWindows::own_offset(offset));
  return at.packed();
}

unsigned first_sector(SectorMask sectors) {
  return static_cast<unsigned>(__builtin_ctz(sectors));
}

/// Where the access of `lane` begins in its line.
unsigned offset_of(const Coalescer& coalescer, const LineAccess& line, unsigned lane) {
  return static_cast<unsigned>(coalescer.address(lane, line.word).value - line.line.value);
}

/// Marks the bytes that the lanes of `line` read or write, and no others.
void mark_touched(Request& r, const MemOp& op, const LineAccess& line, const Coalescer& coalescer) {
  r.bytes = {};  // the pool hands out the last user's
  if (coalescer.contiguous() && op.sink_lanes == 0)
    return r.bytes.set(offset_of(coalescer, line, first_lane(line.lanes)),
                       lane_count(line.lanes) * coalescer.piece());
  for_each_lane(line.lanes, [&](unsigned lane) {
    const unsigned offset = offset_of(coalescer, line, lane);
    if (op.sink_lanes == 0 || r.local) {  // of local memory, words that are sinks have no line
      r.bytes.set(offset, coalescer.piece());
      return;
    }
    for (unsigned n = 0; n < op.vector; ++n)
      if (op.has_element(n)) r.bytes.set(offset + n * size_of(op.type), size_of(op.type));
  });
}

/// Gives a request on global memory what the policy of the line's lowest lane asks for, at the line's virtual
/// address. What the policy names goes before the instruction's own qualifiers, which are known when it is
/// compiled: a policy is made at run time, and per address. Raises `block`, the bytes wanted in L2, to what
/// it wants. False: no instruction makes such a policy.
bool apply_policy(Request& r, const MemoryAccess& written, const LineAccess& line, unsigned& block) {
  constexpr unsigned kPromotedBytes = 256;
  const auto policy = decode_policy(written.policy[first_lane(line.lanes)]);
  if (!policy) {
    r.l2_priority = EvictionPriority::normal;
    return false;
  }
  if (const L2Eviction named = policy->applied_to(line.line.value); named != L2Eviction::none)
    r.l2_priority = priority_of(named);
  if (policy->skips_l1) r.l1_priority = EvictionPriority::no_allocate;
  if (policy->promotes) block = std::max(block, kPromotedBytes);
  return true;
}

}  // namespace

bool RequestBuilder::fill(Request& r, const ResolvedAccess& access, const LineAccess& line,
                          const Coalescer& coalescer) {
  const MemOp& op = access.op();
  r.command = command_of(op);
  r.sectors = line.sectors;
  r.virtual_line = line.line;
  r.cache_operator = op.cache_operator;
  r.l1_priority = l1_priority_of(op);
  r.l2_priority = l2_priority_of(op);
  bool well_formed = true;
  const Mapping* mapping = line.mapping;
  switch (line.space) {
    case Space::texture:
      // Mappings begin at a multiple of 256 bytes: with a texel, the start of its sector is mapped.
      mapping = map_.space->reach(
          VirtualAddress{line.line.value + first_sector(line.sectors) * std::uint64_t{kSectorBytes}}, 1,
          hint_);
      well_formed = fill_global(r, access, line, *mapping);
      break;
    case Space::global:
      // The lanes' addresses are mapped, so the line's first touched byte is.
      if (mapping == nullptr)
        mapping = map_.space->reach(coalescer.address(first_lane(line.lanes), line.word), 1, hint_);
      well_formed = fill_global(r, access, line, *mapping);
      break;
    case Space::local:
      r.line = PhysicalAddress{map_.local_base.value + (line.line.value & ~kLocalTag)};
      r.local = true;
      r.last_use = r.command == Command::read && streams(op);
      if (r.last_use) mark_touched(r, op, line, coalescer);
      break;
    case Space::shared_cluster: r.line = address_in_cluster(access.cluster(), line.line); break;
    default: r.line = PhysicalAddress{map_.constant_base.value + line.line.value}; break;
  }
  if (access.exact()) {
    r.exact = r.no_l1 = true;
    r.scope = Scope::sys;
  }
  switch (r.command) {
    case Command::read:
      if (access.exact()) {
        r.bytes = {};
        r.bytes.set(offset_of(coalescer, line, first_lane(line.lanes)), op.bytes_per_lane());
        if (mutated(SmMutation::mmio_reads_sectors)) r.bytes = ByteMask::of_sectors(line.sectors);
      } else if (reads_device_past_l1(r, access, mapping)) {
        r.exact = true;
        mark_touched(r, op, line, coalescer);
      }
      break;
    case Command::write: fill_write(r, access, line, coalescer); break;
    case Command::atomic:
    case Command::reduce: fill_atomics(r, access, line, coalescer); break;
    case Command::control:
      r.control = control_of(op);
      r.sectors = line.space == Space::global ? mapped_sectors(*mapping, line.line) : kAllSectors;
      break;
    case Command::maintain: break;
  }
  return well_formed;
}

LaneMask RequestBuilder::fill_mbarriers(Request& r, const ResolvedAccess& access, LaneMask lanes) const {
  const MemOp& op = access.op();
  const bool told = op.kind == MemKind::async_store;
  const std::uint64_t line = mbarrier_of(access, first_lane(lanes)) & ~(kLineBytes - std::uint64_t{1});
  AtomicBlock* const block = pool_.allocate_atomics();
  block->operation = AtomicOperation::none;
  block->type = DataType::b64;
  block->vector = 1;
  block->of_mbarriers = true;
  block->mbarrier = told ? MbarrierOperation::complete_tx : op.mbarrier;
  block->mbarrier_form = told ? MbarrierForm::plain : op.mbarrier_form;
  r.command = Command::atomic;
  r.atomics = block;
  r.virtual_line = VirtualAddress{kClusterTag | line};
  r.line = address_in_cluster(access.cluster(), r.virtual_line);
  LaneMask taken = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t offset = mbarrier_of(access, lane) - line;
    if (offset >= kLineBytes) return;
    taken |= LaneMask{1} << lane;
    std::uint64_t count = op.bytes_per_lane();
    if (!told) {
      MbarrierOperands operands;
      __builtin_memcpy(&operands, access.written().lane_data(lane), sizeof operands);
      count = operands.count;
    }
    const auto end = block->lanes.begin() + block->count;
    const auto same = std::find_if(block->lanes.begin(), end, [&](const LaneAtomic& other) {
      return other.offset == offset && other.operand == count;
    });
    if (same != end) {
      ++same->second;
      return;
    }
    *end = {static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(offset), count, 1, 0};
    ++block->count;
    r.sectors = static_cast<SectorMask>(r.sectors | sectors_between(offset, offset));
  });
  return taken;
}

bool RequestBuilder::fill_global(Request& r, const ResolvedAccess& access, const LineAccess& line,
                                 const Mapping& mapping) const {
  const MemOp& op = access.op();
  r.line = mapping.translate(line.line);
  r.region = mapping.region;
  r.scope = strong_scope(op);
  r.surface = op.space == Space::surface;
  r.no_l1 = op.cache_operator == CacheOperator::cg || op.cache_operator == CacheOperator::wt || op.bypass_l1;
  unsigned block = op.prefetch_bytes;
  const bool well_formed = !op.cache_hint || apply_policy(r, access.written(), line, block);
  // Only of video memory: what lies beyond a bus is not read for a hint.
  if (block != 0 && r.command == Command::read && aperture_of(r.line) == Aperture::vidmem)
    r.prefetch = prefetch_sectors(block, line.sectors, mapping, line.line);
  return well_formed;
}

void RequestBuilder::fill_write(Request& r, const ResolvedAccess& access, const LineAccess& line,
                                const Coalescer& coalescer) const {
  mark_touched(r, access.op(), line, coalescer);
  if (!map_.with_data) return;
  with_size(coalescer.piece(), [&](auto size) {
    for_each_lane(line.lanes, [&](unsigned lane) {
      __builtin_memcpy(&r.data[offset_of(coalescer, line, lane)],
                       access.written().lane_data(lane) + std::size_t{line.word} * 4, size);
    });
  });
}

void RequestBuilder::fill_atomics(Request& r, const ResolvedAccess& access, const LineAccess& line,
                                  const Coalescer& coalescer) const {
  const MemOp& op = access.op();
  const unsigned bytes = op.bytes_per_lane();  // up to 8, or 16
  const bool wide = bytes > sizeof LaneAtomic::operand;
  const bool swaps = op.atomic == AtomicOperation::compare_and_swap;
  const bool loads = op.multimem && op.kind == MemKind::atomic;  // without an operand
  AtomicBlock* block = pool_.allocate_atomics();
  block->operation = op.atomic;
  block->type = op.type;
  block->vector = op.vector;
  block->wide_sums = op.wide_sums;
  // A formatted reduction is of the surface's type (PTX ISA, "sured").
  if (op.image.formatted) {
    const bool negative = is_signed(access.image(first_lane(line.lanes)).format.type);
    block->type =
        bytes == 8 ? (negative ? DataType::s64 : DataType::u64) : (negative ? DataType::s32 : DataType::u32);
  }
  for_each_lane(line.lanes, [&](unsigned lane) {
    LaneAtomic& part = block->lanes[block->count++];
    part.lane = static_cast<std::uint8_t>(lane);
    part.offset = static_cast<std::uint8_t>(offset_of(coalescer, line, lane));
    part.operand = part.second = part.old_value = 0;
    if (!map_.with_data || loads) return;
    const std::uint8_t* data = access.written().lane_data(lane);
    LaneAtomicHigh& high = block->high[block->count - 1];
    if (wide) high = {};
    spread_value(data, part.operand, high.operand, bytes);
    if (!swaps) return;
    if (wide) {
      spread_value(data + bytes, part.second, high.second, bytes);
    } else {
      part.second = access.written().second[lane];
    }
  });
  r.atomics = block;
}

}  // namespace warpline
