// How the load/store unit turns lanes into requests and answers back into lanes.
#include <algorithm>

#include "warpline/sm/load_store_unit.h"

namespace warpline {
namespace {

/// Marks the tags of local lines, so that they never look like global ones.
constexpr std::uint64_t kLocalTag = std::uint64_t{1} << 63U;

EvictionClass l1_class_of(const MemOp& op) {
  const bool streaming = op.cache_operator == CacheOperator::cs || op.cache_operator == CacheOperator::lu;
  return streaming || op.l1_eviction == L1Eviction::first ? EvictionClass::first : EvictionClass::normal;
}

EvictionClass l2_class_of(const MemOp& op) {
  const bool streaming = op.cache_operator == CacheOperator::cs || op.cache_operator == CacheOperator::lu;
  return streaming ? EvictionClass::first : EvictionClass::normal;
}

/// The scope at which L1 and L2 must treat the access as strong; none: weak.
Scope strong_scope(const MemOp& op) {
  if (op.is_volatile) return Scope::sys;
  if (op.kind == MemKind::atomic || op.kind == MemKind::reduction) return std::max(op.scope, Scope::gpu);
  return op.is_strong() ? op.scope : Scope::none;
}

Command command_of(const MemOp& op) {
  switch (op.kind) {
    case MemKind::store: return Command::write;
    case MemKind::atomic: return Command::atomic;
    case MemKind::reduction: return Command::reduce;
    default: return Command::read;
  }
}

/// Sectors of the naturally aligned `bytes` block around each touched sector, on this line.
SectorMask prefetch_sectors(unsigned bytes, SectorMask sectors) {
  if (bytes >= kLineBytes) return kAllSectors;
  if (bytes != 64) return 0;
  return static_cast<SectorMask>(((sectors & 3U) != 0 ? 3U : 0U) | ((sectors & 12U) != 0 ? 12U : 0U));
}

}  // namespace

std::uint64_t LoadStoreUnit::constant_address(const Entry& e, std::uint64_t address) const {
  return e.instruction->mem.space == Space::param
             ? ConstantBanks::address(ConstantBanks::kParameterBank,
                                      ConstantBanks::kParameterOffset + address)
             : address;
}

/// Sorts the lanes by space and makes every address an offset in its space. A strided global
/// access keeps its form.
bool LoadStoreUnit::classify(Entry& e) {
  const LaneMask lanes = e.access.active;
  MemoryAccess& a = e.access;
  const auto spell_out = [&a] {
    if (a.form == AddressForm::per_lane) return;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint64_t address = a.address_of(lane);
      a.address[lane] = address;
    }
    a.form = AddressForm::per_lane;
  };
  switch (e.instruction->mem.space) {
    case Space::global: head_.global = lanes; return true;
    case Space::shared: head_.shared = lanes; return true;
    case Space::local: head_.local = lanes; return true;
    case Space::constant:
    case Space::param:
      spell_out();
      for (LaneMask m = lanes; m != 0; m &= m - 1) {
        std::uint64_t& address = a.address[static_cast<unsigned>(__builtin_ctz(m))];
        address = constant_address(e, address);
      }
      head_.constant = lanes;
      return true;
    default: break;
  }
  spell_out();
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const LaneMask bit = LaneMask{1} << lane;
    switch (AddressWindows::space_of(a.address[lane])) {
      case Space::shared: head_.shared |= bit; break;
      case Space::local:
        head_.local |= bit;
        a.address[lane] = AddressWindows::from_generic(Space::local, a.address[lane]);
        break;
      default: head_.global |= bit;
    }
  }
  return true;
}

/// The commonest access needs no coalescing: all lanes load consecutive bytes that fill one line
/// of global memory. Holds that line if so.
bool LoadStoreUnit::take_whole_line(const Entry& e) {
  const MemoryAccess& a = e.access;
  const MemOp& op = e.instruction->mem;
  if (a.form != AddressForm::strided || a.stride != 4 || a.active != ~LaneMask{0} ||
      a.base % kLineBytes != 0 || op.kind != MemKind::load || op.space != Space::global ||
      op.bytes_per_lane() != 4 || map_.space->find(a.base, kLineBytes, mapping_hint_) == nullptr)
    return false;
  head_.space = Space::global;
  head_.line = {a.base, kAllSectors, a.active, 0};
  head_.line_held = true;
  return true;
}

std::optional<Fault> LoadStoreUnit::check_global(const Entry& e) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  const MemoryAccess& a = e.access;
  const auto first = static_cast<unsigned>(__builtin_ctz(head_.global));
  const auto last = kWarpLanes - 1 - static_cast<unsigned>(__builtin_clz(head_.global));
  // The usual case: all of the warp in one mapping, found with one look.
  std::uint64_t low = a.address_of(first), high = low;
  if (a.form == AddressForm::strided) {
    high = a.address_of(last);
    if (high < low) std::swap(low, high);
  } else {
    for (LaneMask m = head_.global; m != 0; m &= m - 1) {
      const std::uint64_t x = a.address[static_cast<unsigned>(__builtin_ctz(m))];
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  if (high - low < (1U << 30U) &&
      map_.space->find(low, static_cast<unsigned>(high - low) + bytes, mapping_hint_) != nullptr)
    return std::nullopt;
  for (LaneMask m = head_.global; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t x = a.address_of(lane);
    if (map_.space->find(x, bytes, mapping_hint_) == nullptr)
      return Fault{FaultKind::unmapped, 0, 0, lane, x, nullptr};
  }
  return std::nullopt;
}

std::optional<Fault> LoadStoreUnit::check(const Entry& e) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  const MemoryAccess& a = e.access;
  const bool skip_each = a.form == AddressForm::strided && a.base % bytes == 0 && a.stride % bytes == 0;
  const std::uint64_t shared_window =
      e.instruction->mem.space == Space::generic ? AddressWindows::kSharedBase : std::uint64_t{0};
  const bool bounded = map_.with_data;
  const MemKind kind = e.instruction->mem.kind;
  const bool atomic = kind == MemKind::atomic || kind == MemKind::reduction;
  if (a.form == AddressForm::per_lane && head_.global == a.active) {
    // The usual case, without a branch per lane; bytes is a power of two.
    std::uint64_t low_bits = 0;
    for (LaneMask m = a.active; m != 0; m &= m - 1)
      low_bits |= a.address[static_cast<unsigned>(__builtin_ctz(m))];
    if ((low_bits & (bytes - 1)) == 0) return check_global(e);
  }
  for (LaneMask m = skip_each && head_.global == a.active ? 0 : a.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const LaneMask bit = m & -m;
    const std::uint64_t x = a.address_of(lane);
    const auto beyond = [bytes](std::uint64_t offset, std::uint64_t size) {
      return offset > size || size - offset < bytes;
    };
    if (x % bytes != 0) return Fault{FaultKind::misaligned, 0, 0, lane, x, nullptr};
    if ((head_.shared & bit) != 0 && bounded && beyond(x - shared_window, e.shared_bytes))
      return Fault{FaultKind::shared_range, 0, 0, lane, x, nullptr};
    if ((head_.local & bit) != 0 && atomic) return Fault{FaultKind::atomic_local, 0, 0, lane, x, nullptr};
    if ((head_.local & bit) != 0 && bounded && beyond(x, map_.local_bytes))
      return Fault{FaultKind::local_range, 0, 0, lane, x, nullptr};
    if ((head_.constant & bit) != 0 && beyond(x, ConstantBanks::kBanks * ConstantBanks::kBankBytes))
      return Fault{FaultKind::constant_range, 0, 0, lane, x, nullptr};
  }
  return head_.global == 0 ? std::nullopt : check_global(e);
}

/// The fault's address as the program wrote it: undoes what classify() did to it.
std::uint64_t LoadStoreUnit::address_as_written(const Entry& e, const Fault& fault) const {
  const Space space = e.instruction->mem.space;
  if (space == Space::generic && ((head_.local >> fault.lane) & 1U) != 0)
    return AddressWindows::to_generic(Space::local, fault.address);
  return space == Space::param ? fault.address - constant_address(e, 0) : fault.address;
}

void LoadStoreUnit::fill_request(Request& r, const Entry& e, const LineAccess& line) {
  const MemOp& op = e.instruction->mem;
  r.command = command_of(op);
  r.sectors = line.sectors;
  r.cache_operator = op.cache_operator;
  r.l1_class = l1_class_of(op);
  r.l2_class = l2_class_of(op);
  switch (head_.space) {
    case Space::global: {
      // The lanes' addresses are mapped, so the line's first touched byte is.
      const std::uint64_t touched = e.access.address_of(static_cast<unsigned>(__builtin_ctz(line.lanes)));
      const Mapping* m = map_.space->find(touched, 1, mapping_hint_);
      r.virtual_line = VirtualAddress{line.line};
      r.line = PhysicalAddress{m->physical.value + (line.line - m->base)};
      r.region = m->region;
      r.scope = strong_scope(op);
      r.no_l1 = op.cache_operator == CacheOperator::cg || op.bypass_l1;
      r.prefetch = prefetch_sectors(op.prefetch_bytes, line.sectors);
      break;
    }
    case Space::local:
      r.virtual_line = VirtualAddress{kLocalTag | line.line};
      r.line = PhysicalAddress{map_.local_base.value + line.line};
      r.local = true;
      break;
    default:
      r.virtual_line = VirtualAddress{line.line};
      r.line = PhysicalAddress{map_.constant_base.value + line.line};
      break;
  }
  if (r.command == Command::atomic || r.command == Command::reduce) {
    fill_atomics(r, e, line);
  } else if (r.command == Command::write) {
    const unsigned piece = head_.coalescer.piece();
    r.bytes = {};  // the pool hands out the last user's
    for (LaneMask m = line.lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      const auto offset = static_cast<unsigned>(head_.coalescer.address(lane, line.word) - line.line);
      r.bytes.set(offset, piece);
      if (map_.with_data) __builtin_memcpy(&r.data[offset], e.access.lane_data(lane) + line.word * 4U, piece);
    }
  }
}

void LoadStoreUnit::fill_atomics(Request& r, const Entry& e, const LineAccess& line) {
  const MemOp& op = e.instruction->mem;
  AtomicBlock* block = owner_.engine().pool().allocate_atomics();
  block->operation = op.atomic;
  block->type = op.type;
  for (LaneMask m = line.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    LaneAtomic& part = block->lanes[block->count++];
    part.lane = static_cast<std::uint8_t>(lane);
    part.offset = static_cast<std::uint8_t>(head_.coalescer.address(lane, 0) - line.line);
    part.operand = part.second = part.old_value = 0;
    if (!map_.with_data) continue;
    __builtin_memcpy(&part.operand, e.access.lane_data(lane), size_of(op.type));
    if (op.atomic == AtomicOperation::compare_and_swap) part.second = e.access.second[lane];
  }
  r.atomics = block;
}

void LoadStoreUnit::scatter(Entry& e, const Request& r) {
  const unsigned bytes = e.instruction->mem.bytes_per_lane();
  if (r.command == Command::atomic) {
    for (unsigned i = 0; i < r.atomics->count; ++i) {
      const LaneAtomic& part = r.atomics->lanes[i];
      __builtin_memcpy(e.access.lane_data(part.lane), &part.old_value, bytes);
    }
    return;
  }
  if (r.local) {
    const std::uint64_t line = r.virtual_line.value & ~kLocalTag;
    const unsigned piece = std::min(bytes, 4U);
    for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      for (unsigned word = 0; word * 4 < bytes; ++word) {
        const std::uint64_t at =
            local_address(local_warp_base(e.slot), e.access.address_of(lane) + word * 4U, lane);
        if (at - line < kLineBytes)
          __builtin_memcpy(e.access.lane_data(lane) + word * 4U, &r.data[at - line], piece);
      }
    }
    return;
  }
  for (LaneMask m = e.access.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t offset = e.access.address_of(lane) - r.virtual_line.value;
    if (offset < kLineBytes) __builtin_memcpy(e.access.lane_data(lane), &r.data[offset], bytes);
  }
}

}  // namespace warpline
