#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// Byte addresses in the spaces that are no global memory. An address of global memory is a VirtualAddress.
using SharedAddress = Strong<struct SharedAddressTag>;      ///< in its CTA's part of shared memory
using LocalAddress = Strong<struct LocalAddressTag>;        ///< in its thread's local memory
using ConstantAddress = Strong<struct ConstantAddressTag>;  ///< in the constant banks

/// Where the shared and local windows lie in the generic address space. Everything else is
/// global. The values are a driver's choice; these are ours, the same on every preset.
struct AddressWindows {
  static constexpr std::uint64_t kSharedBase = 0x7294'0000'0000ULL;
  static constexpr std::uint64_t kLocalBase = 0x7293'0000'0000ULL;
  static constexpr std::uint64_t kSize = 0x0100'0000ULL;  ///< 16 MiB each
  /// The shared memory of the CTAs of a cluster (`.shared::cluster`): that of rank r is a window of kSize
  /// from kSize * (r + 1) on. Below lies what each thread has as its own CTA's.
  static constexpr unsigned kRankShift = 24;
  static constexpr unsigned kRankCodes = 32;
  static constexpr std::uint64_t kClusterSize = kSize * kRankCodes;

  /// Of an offset in `.shared::cluster`: 0 for the thread's own CTA, else the CTA's rank and 1.
  [[nodiscard]] static constexpr std::uint64_t rank_code(std::uint64_t offset) {
    return offset >> kRankShift;
  }
  /// The same offset in a CTA's own shared memory.
  [[nodiscard]] static constexpr std::uint64_t own_offset(std::uint64_t offset) {
    return offset & (kSize - 1);
  }
  /// `mapa`: `offset` in the shared memory of the CTA of rank `rank`. Of a rank that no cluster has, one that
  /// names no CTA.
  [[nodiscard]] static constexpr std::uint64_t map_to_rank(std::uint64_t offset, std::uint64_t rank) {
    const std::uint64_t code = rank < kRankCodes - 1 ? rank + 1 : kRankCodes - 1;
    return code << kRankShift | own_offset(offset);
  }
  /// Where kernel parameters lie, within the window of global memory (PTX ISA, "cvta").
  static constexpr std::uint64_t kParamBase = 0x7296'0000'0000ULL;
  /// Where constant memory lies likewise, by constant address.
  static constexpr std::uint64_t kConstantBase = 0x7295'0000'0000ULL;

  /// Whether a generic address names a kernel parameter.
  [[nodiscard]] static constexpr bool is_parameter(std::uint64_t generic) {
    return generic - kParamBase < kSize;
  }
  /// Whether it names constant memory.
  [[nodiscard]] static constexpr bool is_constant(std::uint64_t generic) {
    return generic - kConstantBase < kSize;
  }
  /// The space that a generic address names.
  [[nodiscard]] static constexpr Space space_of(std::uint64_t generic) {
    if (generic - kLocalBase >= kParamBase + kSize - kLocalBase) return Space::global;  // beyond all windows
    if (generic - kSharedBase < kSize) return Space::shared;
    if (generic - kSharedBase < kClusterSize) return Space::shared_cluster;
    if (generic - kLocalBase < kSize) return Space::local;
    if (is_parameter(generic)) return Space::param;
    if (is_constant(generic)) return Space::constant;
    return Space::global;
  }
  /// `cvta.space`: from an offset in `space` to a generic address.
  [[nodiscard]] static constexpr std::uint64_t to_generic(Space space, std::uint64_t offset) {
    if (space == Space::shared || space == Space::shared_cluster) return kSharedBase + offset;
    if (space == Space::local) return kLocalBase + offset;
    if (space == Space::param) return kParamBase + offset;
    if (space == Space::constant) return kConstantBase + offset;
    return offset;
  }
  /// `cvta.to.space`: from a generic address to an offset in `space`.
  [[nodiscard]] static constexpr std::uint64_t from_generic(Space space, std::uint64_t generic) {
    if (space == Space::shared || space == Space::shared_cluster) return generic - kSharedBase;
    if (space == Space::local) return generic - kLocalBase;
    if (space == Space::param) return generic - kParamBase;
    if (space == Space::constant) return generic - kConstantBase;
    return generic;
  }
};

/// How constant addresses are made: (bank << 16) + byte (SASS, CCTL). Kernel parameters lie in bank 0
/// and module constants in bank 3.
struct ConstantBanks {
  static constexpr unsigned kBankShift = 16;
  static constexpr std::uint64_t kBankBytes = 1U << kBankShift;
  static constexpr unsigned kBanks = 18;
  static constexpr unsigned kParameterBank = 0;
  static constexpr unsigned kModuleBank = 3;
  static constexpr std::uint64_t kParameterOffset = 0x210;  ///< where parameters start in bank 0 (sm_90)
  /// Byte `offset` of the kernel's parameters.
  [[nodiscard]] static constexpr std::uint64_t of_parameter(std::uint64_t offset) {
    return address(kParameterBank, kParameterOffset + offset);
  }
  [[nodiscard]] static constexpr std::uint64_t address(unsigned bank, std::uint64_t byte) {
    return (std::uint64_t{bank} << kBankShift) + byte;
  }
};

}  // namespace warpline
