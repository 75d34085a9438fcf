#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/cta_launch.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/image_table.h"
#include "rtl_models/sm/lane_addresses.h"
#include "rtl_models/sm/texel_plan.h"

namespace warpline {

/// Marks the virtual addresses by which L1 knows local memory, so that they never look like global ones.
inline constexpr std::uint64_t kLocalTag = std::uint64_t{1} << 63U;

/// Marks those by which the load/store unit knows the shared memory of other CTAs.
inline constexpr std::uint64_t kClusterTag = std::uint64_t{1} << 62U;

/// Which lanes of a warp's access go to which space, and where in it, each as an address of that space. Made
/// by AddressResolution; nobody changes it after that. It refers to the access as the program wrote it.
class ResolvedAccess {
 public:
  [[nodiscard]] LaneAddresses<VirtualAddress> global() const { return {*written_, global_}; }
  [[nodiscard]] LaneAddresses<SharedAddress> shared() const {
    return {*written_, shared_, op_->space == Space::generic ? AddressWindows::kSharedBase : 0};
  }
  /// In the shared memory of other CTAs of the cluster: kClusterTag and the offset in `.shared::cluster`.
  [[nodiscard]] LaneAddresses<VirtualAddress> remote() const {
    return {*written_, remote_,
            (op_->space == Space::generic ? AddressWindows::kSharedBase : 0) - kClusterTag};
  }
  /// Where the cluster runs. Pre: remote() has lanes.
  [[nodiscard]] const ClusterPlace& cluster() const { return *cluster_; }
  [[nodiscard]] LaneAddresses<LocalAddress> local() const {
    return {*written_, local_, op_->space == Space::generic ? AddressWindows::kLocalBase : 0};
  }
  [[nodiscard]] LaneAddresses<ConstantAddress> constant() const {
    if (by_bank_) return {banks_->data(), constant_};
    const std::uint64_t base = op_->space == Space::generic ? AddressWindows::kParamBase : 0;
    return {*written_, constant_, op_->space == Space::constant ? 0 : base - kParameters};
  }
  /// Whether the line of a request for it is one of constants, and not of global memory, which begins behind
  /// where the banks end.
  [[nodiscard]] bool is_of_constants(VirtualAddress line) const {
    constexpr std::uint64_t kEnd = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;
    return constant_ != 0 && (global_ == 0 || line.value < kEnd);
  }
  /// Of accesses to images: the elements of a surface. Of a texture the lanes alone have a meaning.
  [[nodiscard]] LaneAddresses<VirtualAddress> texels() const {
    return {texels_ == nullptr ? nullptr : texels_->address.data(), image_};
  }
  /// The image that `lane` accesses. Pre: it is one of the lanes of texels().
  [[nodiscard]] const Image& image(unsigned lane) const { return *texels_->image[lane]; }
  /// Of a texture load: what `lane` reads. Pre: likewise.
  [[nodiscard]] const TexelPlan& plan(unsigned lane) const { return texels_->plan[lane]; }
  /// The address of texel `k` of that plan. Pre: it is not in the border.
  [[nodiscard]] VirtualAddress texel(unsigned lane, unsigned k) const {
    return VirtualAddress{image(lane).address + plan(lane).offset[k]};
  }
  /// Of a query: the image that the handle of `lane` names; null where it names none, which `istypep` may
  /// ask.
  [[nodiscard]] const Image* asked(unsigned lane) const { return texels_->image[lane]; }
  /// Bytes that `lane` accesses of a surface: of a formatted access those of an element.
  [[nodiscard]] unsigned element_bytes(unsigned lane) const {
    return op_->image.formatted ? image(lane).format.bytes() : op_->bytes_per_lane();
  }
  /// Lanes that take part, but for which there is nothing to access: beyond the edge of a surface, copies of
  /// no bytes, prefetches of what is not mapped, queries.
  [[nodiscard]] LaneMask nowhere() const {
    return written_->active & ~(global_ | shared_ | remote_ | local_ | constant_ | image_);
  }
  /// Those of them that control no line, since their address is not mapped, and how many they are.
  [[nodiscard]] LaneMask unmapped() const { return dropped_; }
  [[nodiscard]] unsigned dropped() const { return lane_count(dropped_); }
  /// Whether each lane is a transaction of its own: `.mmio`, or of memory that is mapped uncached.
  [[nodiscard]] bool exact() const { return exact_; }
  /// Where the warp's local memory begins, as L1 knows it.
  [[nodiscard]] VirtualAddress local_base() const { return local_base_; }
  /// Bytes that `lane` reads or writes in global memory; an asynchronous copy may read fewer than it writes.
  [[nodiscard]] unsigned source_bytes(unsigned lane) const {
    const unsigned bytes = op_->bytes_per_lane();
    const std::uint32_t read = op_->fills ? CopyTarget::of(written_->second[lane]).bytes : bytes;
    return read < bytes ? read : bytes;
  }
  /// Where the asynchronous copy of `lane` goes.
  [[nodiscard]] SharedAddress copy_target(unsigned lane) const {
    const std::uint64_t at = CopyTarget::of(written_->second[lane]).offset;
    // What `mapa` makes of the own CTA's.
    const bool own = AddressWindows::rank_code(at) == (cluster_ != nullptr ? cluster_->rank + 1U : 1U);
    return SharedAddress{own ? AddressWindows::own_offset(at) : at};
  }
  /// Of a store that tells an mbarrier: where the object is that `lane` tells, an offset in
  /// `.shared::cluster`. Beyond that space where the program wrote no address of it.
  [[nodiscard]] std::uint64_t told(unsigned lane) const {
    const std::uint64_t at = written_->second[lane];
    return op_->space == Space::generic ? at - AddressWindows::kSharedBase : at;
  }
  [[nodiscard]] const MemOp& op() const { return *op_; }
  [[nodiscard]] const MemoryAccess& written() const { return *written_; }
  /// A fault of `lane`, whose address is the one that the program wrote.
  [[nodiscard]] Fault fault(FaultKind kind, unsigned lane) const {
    Fault fault{kind, 0, 0, lane, written_->address_of(lane), nullptr};
    fault.space = op_->space;
    fault.bytes = bytes_at_fault(kind, lane);
    return fault;
  }

 private:
  /// What is accessed at the address: how much a copy writes matters to its source's alignment only.
  [[nodiscard]] unsigned bytes_at_fault(FaultKind kind, unsigned lane) const {
    switch (op_->kind) {
      case MemKind::texture_load:
      case MemKind::image_query: return 0;
      case MemKind::apply_priority:
      case MemKind::discard: return kLineBytes;
      default: return kind == FaultKind::misaligned ? op_->bytes_per_lane() : source_bytes(lane);
    }
  }
  friend class AddressResolution;
  struct Texels {
    std::array<std::uint64_t, kWarpLanes> address;
    std::array<const Image*, kWarpLanes> image;
    std::array<TexelPlan, kWarpLanes> plan;
  };
  static constexpr std::uint64_t kParameters =
      ConstantBanks::address(ConstantBanks::kParameterBank, ConstantBanks::kParameterOffset);

  const MemOp* op_ = nullptr;
  const MemoryAccess* written_ = nullptr;
  LaneMask global_ = 0, shared_ = 0, remote_ = 0, local_ = 0, constant_ = 0, image_ = 0, dropped_ = 0;
  const ClusterPlace* cluster_ = nullptr;
  bool exact_ = false;
  bool by_bank_ = false;  ///< generic addresses name constants, perhaps beside parameters
  VirtualAddress local_base_;
  std::unique_ptr<Texels> texels_;  ///< made by the first access to an image, and kept
  /// Constant addresses, made by the first access to constants by a generic address, and kept.
  std::unique_ptr<std::array<std::uint64_t, kWarpLanes>> banks_;
};

}  // namespace warpline
