// Which space each lane of an access is in, and whether it may go there.
#include <algorithm>

#include "warpline/sm/load_store_unit.h"

namespace warpline {

std::uint64_t LoadStoreUnit::constant_address(const Entry& e, std::uint64_t address) const {
  return e.instruction->mem.space == Space::param
             ? ConstantBanks::address(ConstantBanks::kParameterBank,
                                      ConstantBanks::kParameterOffset + address)
             : address;
}

/// Sorts the lanes by space and makes every address an offset in its space. A strided global
/// access keeps its form.
void LoadStoreUnit::classify(Entry& e) {
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
    case Space::global:
      head_.global = lanes;
      if (e.instruction->mem.fills) leave_out_unread(e);
      return;
    case Space::shared: head_.shared = lanes; return;
    case Space::texture:
    case Space::surface: head_.image = lanes; return;
    case Space::local: head_.local = lanes; return;
    case Space::constant:
    case Space::param:
      spell_out();
      for (LaneMask m = lanes; m != 0; m &= m - 1) {
        std::uint64_t& address = a.address[static_cast<unsigned>(__builtin_ctz(m))];
        address = constant_address(e, address);
      }
      head_.constant = lanes;
      return;
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
}

/// The commonest access needs no coalescing: all lanes load consecutive bytes that fill one line
/// of global memory. Holds that line if so.
bool LoadStoreUnit::take_whole_line(const Entry& e) {
  const MemoryAccess& a = e.access;
  const MemOp& op = e.instruction->mem;
  if (a.form != AddressForm::strided || a.stride != 4 || a.active != ~LaneMask{0} ||
      a.base % kLineBytes != 0 || op.kind != MemKind::load || op.space != Space::global ||
      op.bytes_per_lane() != 4 || op.is_mmio)
    return false;
  head_.mapping = map_.space->find(a.base, kLineBytes, mapping_hint_);
  if (head_.mapping == nullptr) return false;
  if (head_.mapping->uncached) {
    head_.mapping = nullptr;
    return false;
  }
  head_.space = Space::global;
  head_.line = {a.base, kAllSectors, a.active, 0};
  head_.line_held = true;
  return true;
}

std::optional<Fault> LoadStoreUnit::check_global(const Entry& e) {
  const unsigned bytes = e.instruction->mem.end_of_access();
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
  if (high - low < (1U << 30U)) {
    if (const Mapping* const all =
            map_.space->find(low, static_cast<unsigned>(high - low) + bytes, mapping_hint_)) {
      head_.uncached = all->uncached;
      return std::nullopt;
    }
  }
  for (LaneMask lanes = head_.global; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
    const std::uint64_t x = a.address_of(lane);
    const Mapping* const m = map_.space->find(x, std::min(bytes, source_bytes(e, lane)), mapping_hint_);
    if (m == nullptr) return Fault{FaultKind::unmapped, 0, 0, lane, x, nullptr};
    head_.uncached = head_.uncached || m->uncached;
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
  // Traces, which carry no data, name prefetch sizes that no programmer has asked for.
  const MemOp& op = e.instruction->mem;
  const bool wants_global = op.space == Space::generic && op.wants_global() && (bounded || op.is_mmio);
  const unsigned accessed = e.instruction->mem.end_of_access();
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
    const auto beyond = [accessed](std::uint64_t offset, std::uint64_t size) {
      return offset > size || size - offset < accessed;
    };
    if ((head_.global & bit) == 0 && wants_global)
      return Fault{FaultKind::not_global, 0, 0, lane, x, nullptr};
    if (x % bytes != 0) return Fault{FaultKind::misaligned, 0, 0, lane, x, nullptr};
    if ((head_.shared & bit) != 0 && bounded && beyond(x - shared_window, e.shared_bytes))
      return Fault{FaultKind::shared_range, 0, 0, lane, x, nullptr};
    if ((head_.local & bit) != 0 && atomic) return Fault{FaultKind::atomic_local, 0, 0, lane, x, nullptr};
    if ((head_.local & bit) != 0 && bounded && beyond(x, e.local_bytes))
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

}  // namespace warpline
