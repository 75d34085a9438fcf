#pragma once

#include <cstdint>
#include <optional>

#include "rtl_models/sm/cta_launch.h"
#include "rtl_models/sm/memory_map.h"
#include "rtl_models/sm/resolved_access.h"

namespace warpline {

/// What a thread may access beside global memory, bytes.
struct AccessLimits {
  std::uint32_t shared_bytes = 0;  ///< of its CTA
  std::uint32_t local_bytes = 0;
  const ClusterPlace* cluster = nullptr;  ///< where its CTA's cluster runs; null: its CTA is in none
};

/// Resolves the addresses that a program wrote: finds the space of each lane's generic address, the place in
/// a constant bank, the element that an image's handle and coordinates name; and checks that the access is
/// allowed. Its input has addresses as plain numbers, its result has typed addresses of one space each. It
/// changes neither the access nor memory.
class AddressResolution {
 public:
  /// For a new kernel.
  void start(const MemoryMap& map) {
    map_ = map;
    hint_ = nullptr;
  }

  /// Resolves an access into `out`. Or says what is wrong with it: the first lane that is at fault, the kind
  /// and the address as the program wrote it, for a copy's target the offset in shared memory; of `out`, only
  /// dropped() has a meaning then. `slot`: of the warp, which has its local memory there. Pre: a lane takes
  /// part; `op` and `written` outlive `out`.
  [[nodiscard]] std::optional<Fault> resolve(const MemOp& op, const MemoryAccess& written, unsigned slot,
                                             const AccessLimits& limits, ResolvedAccess& out);
  /// The commonest access needs no coalescing: all lanes load consecutive bytes that fill one line of global
  /// memory. If it is one, resolves it and returns the line's mapping; else null.
  [[nodiscard]] const Mapping* resolve_whole_line(const MemOp& op, const MemoryAccess& written,
                                                  ResolvedAccess& out);
  /// The same of a load of global memory that is not `.mmio`.
  [[nodiscard]] const Mapping* resolve_global_line(const MemOp& op, const MemoryAccess& written,
                                                   ResolvedAccess& out);

 private:
  struct Extent;
  static void classify(const AccessLimits& limits, ResolvedAccess& out);
  static void find_banks(ResolvedAccess& out);
  static void classify_shared(const AccessLimits& limits, ResolvedAccess& out, unsigned lane,
                              std::uint64_t offset);
  [[nodiscard]] std::optional<Fault> check(const AccessLimits& limits, ResolvedAccess& out);
  [[nodiscard]] bool is_usual_in_shared(const AccessLimits& limits, const ResolvedAccess& out) const;
  [[nodiscard]] static bool is_usual_in_banks(const ResolvedAccess& out);
  [[nodiscard]] std::optional<Fault> check_lanes(const AccessLimits& limits, const ResolvedAccess& out) const;
  [[nodiscard]] std::optional<Fault> check_global(ResolvedAccess& out, const Extent& extent);
  [[nodiscard]] static std::optional<FaultKind> check_kind(ResolvedAccess& out, const Mapping& mapping);
  [[nodiscard]] std::optional<Fault> check_control(const AccessLimits& limits, ResolvedAccess& out);
  [[nodiscard]] static std::optional<Fault> check_copy(const AccessLimits& limits, const ResolvedAccess& out);
  [[nodiscard]] static std::optional<Fault> check_told(const AccessLimits& limits, const ResolvedAccess& out);
  [[nodiscard]] static std::optional<Fault> check_fill(const AccessLimits& limits, const ResolvedAccess& out);
  [[nodiscard]] std::optional<Fault> locate_texels(ResolvedAccess& out) const;
  [[nodiscard]] static std::optional<FaultKind> locate_in(ResolvedAccess& out, unsigned lane,
                                                          const Image& image);

  MemoryMap map_;
  const Mapping* hint_ = nullptr;  ///< the mapping found last
};

inline const Mapping* AddressResolution::resolve_whole_line(const MemOp& op, const MemoryAccess& written,
                                                            ResolvedAccess& out) {
  if (op.kind != MemKind::load || op.space != Space::global || op.is_mmio) return nullptr;
  return resolve_global_line(op, written, out);
}

inline const Mapping* AddressResolution::resolve_global_line(const MemOp& op, const MemoryAccess& written,
                                                             ResolvedAccess& out) {
  if (written.form != AddressForm::strided || written.stride != 4 || written.active != ~LaneMask{0} ||
      written.base % kLineBytes != 0 || op.bytes_per_lane() != 4)
    return nullptr;
  const Mapping* const mapping = map_.space->reach(VirtualAddress{written.base}, kLineBytes, hint_);
  if (mapping == nullptr || mapping->kind != MappingKind::memory || mapping->device) return nullptr;
  out.op_ = &op;
  out.written_ = &written;
  out.global_ = written.active;
  out.shared_ = out.remote_ = out.local_ = out.constant_ = out.image_ = 0;
  out.exact_ = out.by_bank_ = false;
  return mapping;
}

}  // namespace warpline
