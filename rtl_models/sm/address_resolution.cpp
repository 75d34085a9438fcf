#include "rtl_models/sm/address_resolution.h"

#include <algorithm>
#include <utility>

#include "rtl_models/sm/mbarrier.h"

namespace warpline {
namespace {

/// Whether a GPU has the memory of an image. It may lack it: that is another GPU's, or was given back.
bool has_memory_of(const AddressSpace& space, const Image& image) {
  const Mapping* hint = nullptr;
  const std::uint64_t bytes = image.bytes() - (image.row_step() - image.row_bytes());
  return space.reach(VirtualAddress{image.address}, 1, hint) != nullptr &&
         space.reach(VirtualAddress{image.address + bytes - 1}, 1, hint) != nullptr;
}

}  // namespace

/// From where to where a warp's addresses go.
struct AddressResolution::Extent {
  Extent() = default;
  explicit Extent(const LaneAddresses<VirtualAddress>& addresses) {
    if (addresses.strided()) {
      low = addresses[first_lane(addresses.lanes())].value;
      high = addresses[last_lane(addresses.lanes())].value;
      bits = ~std::uint64_t{0};
      if (high < low) std::swap(low, high);
      return;
    }
    low = ~std::uint64_t{0};
    addresses.for_each([this](unsigned, VirtualAddress at) {
      low = std::min(low, at.value);
      high = std::max(high, at.value);
      bits |= at.value;
    });
  }
  std::uint64_t low = 0, high = 0;
  std::uint64_t bits = 0;  ///< that are set in any address, or might be
};

std::optional<Fault> AddressResolution::resolve(const MemOp& op, const MemoryAccess& written, unsigned slot,
                                                const AccessLimits& limits, ResolvedAccess& out) {
  out.op_ = &op;
  out.written_ = &written;
  out.local_base_ = VirtualAddress{kLocalTag | std::uint64_t{slot} * map_.local_bytes * kWarpLanes};
  out.exact_ = op.is_mmio;
  out.dropped_ = 0;
  out.cluster_ = limits.cluster;
  classify(limits, out);
  std::optional<Fault> fault = out.image_ != 0       ? locate_texels(out)
                               : op.controls_lines() ? check_control(limits, out)
                                                     : check(limits, out);
  if (!fault && op.kind == MemKind::async_copy && map_.with_data) fault = check_copy(limits, out);
  return fault;
}

/// Of an address in `.shared::cluster`: whether it is the own CTA's, or another's. Where it is nobody's, the
/// lane is among the own CTA's, where it lies beyond the end.
void AddressResolution::classify_shared(const AccessLimits& limits, ResolvedAccess& out, unsigned lane,
                                        std::uint64_t offset) {
  const std::uint64_t code = AddressWindows::rank_code(offset);
  const bool remote = code != 0 && limits.cluster != nullptr && code != limits.cluster->rank + 1U &&
                      code <= limits.cluster->ctas;
  (remote ? out.remote_ : out.shared_) |= LaneMask{1} << lane;
}

/// The constant addresses of lanes of which some name constants by a generic address, others perhaps
/// parameters.
void AddressResolution::find_banks(ResolvedAccess& out) {
  if (out.banks_ == nullptr) out.banks_ = std::make_unique<std::array<std::uint64_t, kWarpLanes>>();
  for_each_lane(out.constant_, [&](unsigned lane) {
    const std::uint64_t generic = out.written_->address_of(lane);
    (*out.banks_)[lane] =
        AddressWindows::is_constant(generic)
            ? AddressWindows::from_generic(Space::constant, generic)
            : ConstantBanks::of_parameter(AddressWindows::from_generic(Space::param, generic));
  });
}

/// Sorts the lanes by space.
void AddressResolution::classify(const AccessLimits& limits, ResolvedAccess& out) {
  const MemoryAccess& written = *out.written_;
  out.global_ = out.shared_ = out.remote_ = out.local_ = out.constant_ = out.image_ = 0;
  out.by_bank_ = false;
  switch (out.op_->space) {
    case Space::global:
      out.global_ = written.active;
      if (!out.op_->fills) return;
      for_each_lane(written.active, [&](unsigned lane) {
        if (out.source_bytes(lane) == 0) out.global_ &= ~(LaneMask{1} << lane);
      });
      return;
    case Space::shared: out.shared_ = written.active; return;
    case Space::shared_cluster:
      for_each_lane(written.active,
                    [&](unsigned lane) { classify_shared(limits, out, lane, written.address_of(lane)); });
      return;
    case Space::texture:
    case Space::surface: out.image_ = written.active; return;
    case Space::local: out.local_ = written.active; return;
    case Space::constant:
    case Space::param: out.constant_ = written.active; return;
    default: break;
  }
  for_each_lane(written.active, [&](unsigned lane) {
    const Space space = AddressWindows::space_of(written.address_of(lane));
    if (space == Space::shared_cluster) {
      classify_shared(limits, out, lane, AddressWindows::from_generic(space, written.address_of(lane)));
      return;
    }
    (space == Space::shared                              ? out.shared_
     : space == Space::local                             ? out.local_
     : space == Space::param || space == Space::constant ? out.constant_
                                                         : out.global_) |= LaneMask{1} << lane;
    out.by_bank_ = out.by_bank_ || space == Space::constant;
  });
  if (out.by_bank_) find_banks(out);
  // An mbarrier is in shared memory or nowhere, and so is what is told to one, and what `st.bulk` clears.
  const MemKind kind = out.op_->kind;
  if (kind == MemKind::mbarrier || kind == MemKind::async_store || kind == MemKind::fill)
    out.global_ = out.local_ = out.constant_ = 0;
}

/// Whether memory of this kind is the instruction's to access; of some, how.
std::optional<FaultKind> AddressResolution::check_kind(ResolvedAccess& out, const Mapping& mapping) {
  const MemOp& op = *out.op_;
  const bool multicast = mapping.kind == MappingKind::multicast;
  if (multicast != op.multimem) return multicast ? FaultKind::multicast : FaultKind::not_multicast;
  out.exact_ |=
      mapping.kind == MappingKind::uncached && (op.kind == MemKind::load || op.kind == MemKind::store);
  return std::nullopt;
}

std::optional<Fault> AddressResolution::check_global(ResolvedAccess& out, const Extent& extent) {
  const unsigned bytes = out.op_->end_of_access();
  // The usual case: all of the warp in one mapping, found with one look.
  if (extent.high - extent.low < (1U << 30U)) {
    const auto span = static_cast<unsigned>(extent.high - extent.low) + bytes;
    if (const Mapping* const all = map_.space->find(VirtualAddress{extent.low}, span, hint_)) {
      if (all->kind == MappingKind::memory && !out.op_->multimem) return std::nullopt;
      const auto kind = check_kind(out, *all);
      return kind ? std::optional(out.fault(*kind, first_lane(out.global_))) : std::nullopt;
    }
  }
  const LaneAddresses<VirtualAddress> addresses = out.global();
  for (LaneMask lanes = out.global_; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = first_lane(lanes);
    const Mapping* const m =
        map_.space->reach(addresses[lane], std::min(bytes, out.source_bytes(lane)), hint_);
    if (m == nullptr) return out.fault(FaultKind::unmapped, lane);
    if (const auto kind = check_kind(out, *m)) return out.fault(*kind, lane);
  }
  return std::nullopt;
}

/// Whether all lanes are in range and aligned in their CTA's shared memory, found without a branch for each.
bool AddressResolution::is_usual_in_shared(const AccessLimits& limits, const ResolvedAccess& out) const {
  const MemOp& op = *out.op_;
  if (op.space != Space::shared || op.matrices != 0) return false;
  const LaneAddresses<SharedAddress> shared = out.shared();
  const unsigned bytes = op.bytes_per_lane();
  const Extent extent(shared.as<VirtualAddress>());
  if (!shared.strided_in_units_of(bytes) && (extent.bits & (bytes - 1)) != 0) return false;
  return !map_.with_data ||
         (extent.high <= limits.shared_bytes && limits.shared_bytes - extent.high >= op.end_of_access());
}

/// Whether all lanes load from constant banks, in range and aligned, found likewise.
bool AddressResolution::is_usual_in_banks(const ResolvedAccess& out) {
  const MemOp& op = *out.op_;
  if ((op.space != Space::param && op.space != Space::constant) || op.kind != MemKind::load) return false;
  const LaneAddresses<ConstantAddress> constant = out.constant();
  const unsigned bytes = op.bytes_per_lane();
  constexpr std::uint64_t kEnd = ConstantBanks::kBanks * ConstantBanks::kBankBytes;
  const Extent extent(constant.as<VirtualAddress>());
  if (!constant.strided_in_units_of(bytes) && (extent.bits & (bytes - 1)) != 0) return false;
  return extent.high <= kEnd && kEnd - extent.high >= op.end_of_access();
}

std::optional<Fault> AddressResolution::check(const AccessLimits& limits, ResolvedAccess& out) {
  const LaneAddresses<VirtualAddress> global = out.global();
  const unsigned bytes = out.op_->bytes_per_lane();  // a power of two
  Extent extent;
  if (out.global_ != 0) extent = Extent(global);
  // The usual case, without a branch for each lane.
  const bool usual = out.global_ == out.written_->active && out.op_->matrices == 0 &&
                     (global.strided_in_units_of(bytes) || (extent.bits & (bytes - 1)) == 0);
  std::optional<Fault> fault;
  if (!usual && !is_usual_in_shared(limits, out) && !is_usual_in_banks(out)) fault = check_lanes(limits, out);
  return fault || out.global_ == 0 ? fault : check_global(out, extent);
}

std::optional<Fault> AddressResolution::check_lanes(const AccessLimits& limits,
                                                    const ResolvedAccess& out) const {
  const MemOp& op = *out.op_;
  const unsigned bytes = op.bytes_per_lane(), accessed = op.end_of_access();
  if (out.shared_ != out.written_->active) {
    const LaneMask beyond = out.written_->active & ~out.shared_;
    const bool told = op.kind == MemKind::async_store;
    const LaneMask others = op.may_be_remote || told ? beyond & ~out.remote_ : beyond;
    if (told && others != 0) return out.fault(FaultKind::not_in_cluster, first_lane(others));
    if ((op.kind == MemKind::mbarrier || op.kind == MemKind::fill) && others != 0)
      return out.fault(FaultKind::not_shared, first_lane(others));
    // Constants and parameters by a generic address are read only.
    if (op.kind != MemKind::load && out.constant_ != 0)
      return out.fault(FaultKind::unmapped, first_lane(out.constant_));
  }
  const bool bounded = map_.with_data;
  // Traces, which carry no data, name prefetch sizes that no programmer has asked for.
  const bool wants_global = op.space == Space::generic && op.wants_global() && (bounded || op.is_mmio);
  const bool wants_one = wants_global || op.matrices != 0;
  const LaneMask wanted = wants_global ? out.global_ : out.shared_;
  const LaneAddresses<VirtualAddress> global = out.global();
  const LaneAddresses<SharedAddress> shared = out.shared();
  const LaneAddresses<LocalAddress> local = out.local();
  const LaneAddresses<ConstantAddress> constant = out.constant();
  for (LaneMask left = out.written_->active; left != 0; left &= left - 1) {
    const unsigned lane = first_lane(left);
    const LaneMask bit = left & -left;
    std::optional<FaultKind> kind;
    const auto look = [&](std::uint64_t at, bool within, std::uint64_t size, FaultKind beyond) {
      if (at % bytes != 0) {
        kind = FaultKind::misaligned;
      } else if (within && (at > size || size - at < accessed)) {
        kind = beyond;
      }
    };
    if (wants_one && (wanted & bit) == 0) {
      kind = wants_global ? FaultKind::not_global : FaultKind::not_shared;
    } else if ((out.shared_ & bit) != 0) {
      const std::uint64_t at = shared[lane].value, code = AddressWindows::rank_code(at);
      const unsigned own = limits.cluster != nullptr ? limits.cluster->rank : 0;
      if (code != 0 && code != own + 1U && bounded && code < AddressWindows::kRankCodes &&
          op.space != Space::shared) {
        kind = FaultKind::cluster_rank;
      } else {
        look(code == own + 1U ? AddressWindows::own_offset(at) : at, bounded, limits.shared_bytes,
             FaultKind::shared_range);
      }
    } else if ((out.local_ & bit) != 0 && op.is_atomic()) {
      look(local[lane].value, true, 0, FaultKind::atomic_local);
    } else if ((out.local_ & bit) != 0) {
      look(local[lane].value, bounded, limits.local_bytes, FaultKind::local_range);
    } else if ((out.constant_ & bit) != 0) {
      look(constant[lane].value, true, ConstantBanks::kBanks * ConstantBanks::kBankBytes,
           FaultKind::constant_range);
    } else if ((out.remote_ & bit) != 0) {
      look(AddressWindows::own_offset(out.remote()[lane].value), bounded, limits.shared_bytes,
           FaultKind::shared_range);
    } else {  // global, or the source of a copy that reads none of it
      look(global[lane].value, false, 0, FaultKind::unmapped);
    }
    if (kind) return out.fault(*kind, lane);
  }
  if (op.kind == MemKind::async_store && bounded) return check_told(limits, out);
  if (op.kind == MemKind::fill && bounded) return check_fill(limits, out);
  return std::nullopt;
}

/// Leaves the lanes whose lines are to be controlled. Nothing is done to shared memory, and by `prefetchu`
/// nothing to local memory either (PTX ISA, "prefetch"). What names an address that is not mapped is dropped:
/// only a discard, which is a write, needs its line to be there.
std::optional<Fault> AddressResolution::check_control(const AccessLimits& limits, ResolvedAccess& out) {
  const MemKind kind = out.op_->kind;
  const bool anywhere = kind != MemKind::apply_priority && kind != MemKind::discard;
  const unsigned needed = kind == MemKind::discard ? kLineBytes : 1;
  const LaneAddresses<VirtualAddress> global_addresses = out.global();
  const LaneAddresses<LocalAddress> local_addresses = out.local();
  out.shared_ = out.remote_ = 0;
  if (kind == MemKind::prefetch_uniform) out.local_ = 0;
  for (LaneMask m = out.written_->active; m != 0; m &= m - 1) {
    const unsigned lane = first_lane(m);
    const LaneMask bit = m & -m;
    const bool global = (out.global_ & bit) != 0;
    if (!anywhere && !global) return out.fault(FaultKind::not_global, lane);
    // PTX wants the line's own address; SASS, as traces have it, takes any in the line.
    if (!anywhere && map_.with_data && offset_in_line(global_addresses[lane]) != 0)
      return out.fault(FaultKind::misaligned, lane);
    if (((out.global_ | out.local_) & bit) == 0) continue;
    const Mapping* const mapping =
        global ? map_.space->reach(global_addresses[lane], needed, hint_) : nullptr;
    const bool multicast = mapping != nullptr && mapping->kind == MappingKind::multicast;
    const bool mapped = global ? mapping != nullptr && !multicast
                               : !map_.with_data || local_addresses[lane].value < limits.local_bytes;
    if (mapped) continue;
    if (kind == MemKind::discard)
      return out.fault(multicast ? FaultKind::multicast : FaultKind::unmapped, lane);
    out.global_ &= ~bit;
    out.local_ &= ~bit;
    out.dropped_ |= bit;
  }
  return std::nullopt;
}

/// Whether the copy may write where its lanes say. Pre: it carries data.
std::optional<Fault> AddressResolution::check_copy(const AccessLimits& limits, const ResolvedAccess& out) {
  const unsigned bytes = out.op_->bytes_per_lane();
  for (LaneMask m = out.written_->active; m != 0; m &= m - 1) {
    const unsigned lane = first_lane(m);
    const SharedAddress to = out.copy_target(lane);
    const bool aligned = to.value % bytes == 0;
    if (aligned && to.value + bytes <= limits.shared_bytes) continue;
    Fault fault = out.fault(aligned ? FaultKind::shared_range : FaultKind::misaligned, lane);
    fault.space = Space::shared;
    fault.address = to.value;
    fault.bytes = bytes;
    return fault;
  }
  return std::nullopt;
}

/// Whether `st.bulk` may clear as much as its lanes say (PTX ISA, "st.bulk": in units of 8 bytes).
std::optional<Fault> AddressResolution::check_fill(const AccessLimits& limits, const ResolvedAccess& out) {
  const LaneAddresses<SharedAddress> addresses = out.shared();
  for (LaneMask m = addresses.lanes(); m != 0; m &= m - 1) {
    const unsigned lane = first_lane(m);
    const std::uint64_t bytes = out.written_->second[lane];
    const std::uint64_t at = AddressWindows::own_offset(addresses[lane].value);
    const bool whole = bytes % out.op_->bytes_per_lane() == 0;
    if (whole && at <= limits.shared_bytes && limits.shared_bytes - at >= bytes) continue;
    Fault fault = out.fault(whole ? FaultKind::shared_range : FaultKind::fill_size, lane);
    fault.bytes = static_cast<unsigned>(std::min<std::uint64_t>(bytes, ~0U));
    return fault;
  }
  return std::nullopt;
}

/// Whether there can be an mbarrier where the lanes say, in the shared memory that their data goes to. Pre:
/// it carries data, which may go there.
std::optional<Fault> AddressResolution::check_told(const AccessLimits& limits, const ResolvedAccess& out) {
  const Space space = out.op_->space;
  const unsigned own = limits.cluster != nullptr ? limits.cluster->rank + 1U : 1U;
  const unsigned ctas = limits.cluster != nullptr ? limits.cluster->ctas : 1;
  const auto rank_of = [own](std::uint64_t offset) {
    const std::uint64_t code = AddressWindows::rank_code(offset);
    return code == 0 ? own : code;
  };
  for (LaneMask m = out.written_->active; m != 0; m &= m - 1) {
    const unsigned lane = first_lane(m);
    const std::uint64_t written = out.written_->second[lane], at = out.told(lane);
    const bool remote = (out.remote_ >> lane & 1U) != 0;
    const std::uint64_t data_at = remote ? out.remote()[lane].value & ~kClusterTag : out.shared()[lane].value;
    const std::uint64_t offset = AddressWindows::own_offset(at);
    std::optional<FaultKind> kind;
    if (at >= AddressWindows::kClusterSize) {
      kind = FaultKind::not_in_cluster;
    } else if (rank_of(at) > ctas) {
      kind = FaultKind::cluster_rank;
    } else if (rank_of(at) != rank_of(data_at)) {
      kind = FaultKind::mbarrier_apart;
    } else if (offset % Mbarrier::kBytes != 0) {
      kind = FaultKind::misaligned;
    } else if (offset > limits.shared_bytes || limits.shared_bytes - offset < Mbarrier::kBytes) {
      kind = FaultKind::shared_range;
    }
    if (!kind) continue;
    Fault fault{*kind, 0, 0, lane, written, nullptr};
    fault.space = space;
    fault.bytes = Mbarrier::kBytes;
    return fault;
  }
  return std::nullopt;
}

/// Finds what `lane` accesses in `image`, or says what is wrong. Where it accesses nothing, the lane leaves.
std::optional<FaultKind> AddressResolution::locate_in(ResolvedAccess& out, unsigned lane,
                                                      const Image& image) {
  const MemOp& op = *out.op_;
  const ImageCoordinates at = out.written_->coordinates(lane, op.image.geometry != Geometry::any);
  ResolvedAccess::Texels& texels = *out.texels_;
  if (op.kind == MemKind::texture_load) {
    SampleOperands operands;
    if (op.image.geometry != Geometry::any)
      __builtin_memcpy(&operands, out.written_->lane_data(lane), sizeof operands);
    return plan_texels(op, image, at, operands, texels.plan[lane]);
  }
  if (op.is_atomic() && op.image.formatted && image.format.bytes() != op.bytes_per_lane())
    return FaultKind::surface_format;
  const ElementPlace place =
      place_element(op, image, at, op.image.formatted ? image.format.bytes() : op.bytes_per_lane());
  if (place.nowhere) out.image_ &= ~(LaneMask{1} << lane);
  texels.address[lane] = image.address + place.offset;
  return place.fault;
}

/// From the lanes' handles and coordinates to addresses. Lanes that access nothing leave.
std::optional<Fault> AddressResolution::locate_texels(ResolvedAccess& out) const {
  if (out.texels_ == nullptr) out.texels_ = std::make_unique<ResolvedAccess::Texels>();
  const MemOp& op = *out.op_;
  const bool surface = op.space == Space::surface, asks = op.kind == MemKind::image_query;
  const bool any = asks && op.image.query >= ImageQuery::is_texture;
  const Image* mapped = nullptr;
  for (LaneMask m = out.image_; m != 0; m &= m - 1) {
    const unsigned lane = first_lane(m);
    const Image* const image =
        map_.images == nullptr ? nullptr : map_.images->find(out.written_->address_of(lane));
    if (!any && (image == nullptr || image->is_surface != surface))
      return out.fault(surface ? FaultKind::no_surface : FaultKind::no_texture, lane);
    out.texels_->image[lane] = image;
    if (asks) continue;
    if (image != mapped && !has_memory_of(*map_.space, *image)) {
      Fault fault = out.fault(FaultKind::unmapped, lane);
      fault.address = image->address;
      fault.space = Space::global;
      return fault;
    }
    mapped = image;
    if (const auto kind = locate_in(out, lane, *image)) {
      Fault fault = out.fault(*kind, lane);
      fault.coordinates = out.written_->coordinates(lane, op.image.geometry != Geometry::any);
      return fault;
    }
  }
  if (asks) out.image_ = 0;
  return std::nullopt;
}

}  // namespace warpline
