#pragma once

#include <cstdint>
#include <optional>

#include "warpline/isa/mem_op.h"

namespace warpline {

/// The 64-bit descriptors that `createpolicy` yields and `.L2::cache_hint` takes (PTX ISA,
/// "createpolicy"; layout: CUDA's open headers).
///
///   63 reserved | 62 promote to 256 B | 61 no L1 | 60:59 mode | 58:57 primary | 56 secondary
///   fractional: 55:52 sixteenths - 1, 51:0 zero
///   range:      55:52 log2(block) - 12, 51 zero, 50:44 start, 43:37 count, 36:0 zero

/// What the CUDA APIs call an access property; `createpolicy.cvt` takes its descriptor.
enum class AccessProperty : std::uint8_t { global, normal, streaming, persisting };

/// A descriptor, taken apart.
struct CachePolicy {
  enum class Mode : std::uint8_t {
    fractional,  ///< `sixteenths` of the lines, picked by a hash of their address, are primary
    range,       ///< `count` blocks of 2^`block_shift` bytes from block `start` on, modulo 128, are primary
  };
  Mode mode = Mode::fractional;
  L2Eviction primary = L2Eviction::unchanged;
  L2Eviction secondary = L2Eviction::unchanged;  ///< first or unchanged
  unsigned sixteenths = 16;                      ///< fractional: 1 to 16
  unsigned block_shift = 12;                     ///< range: 12 to 27
  unsigned start = 0;                            ///< range: 0 to 127
  unsigned count = 0;                            ///< range: 0 to 127
  bool skips_l1 = false;                         ///< bit 61: do not allocate at L1
  bool promotes = false;                         ///< bit 62: fetch 256 bytes into L2

  /// The priority of an access to `address`: of its 128-byte line, the same in every run.
  [[nodiscard]] L2Eviction applied_to(std::uint64_t address) const;
};

/// The fields of `descriptor`; nothing where it is malformed: a reserved mode or bits set that must be zero.
/// Malformed ones act as `evict_normal` and are counted by who decodes them.
[[nodiscard]] std::optional<CachePolicy> decode_policy(std::uint64_t descriptor);
[[nodiscard]] std::uint64_t encode_policy(const CachePolicy& policy);

/// `createpolicy.fractional`. Pre: 0 < fraction <= 1; `secondary` is first or unchanged. Rounds as the
/// assembler does, which differs from CUDA's headers just above k/16.
[[nodiscard]] std::uint64_t fractional_policy(L2Eviction primary, L2Eviction secondary, float fraction);
/// `createpolicy.range`: primary in [address, address + primary_bytes), as far as the descriptor's rounding
/// to blocks and its 127 blocks go. Pre: primary_bytes <= total_bytes.
[[nodiscard]] std::uint64_t range_policy(L2Eviction primary, L2Eviction secondary, std::uint64_t address,
                                         std::uint32_t primary_bytes, std::uint32_t total_bytes);
[[nodiscard]] std::uint64_t static_policy(AccessProperty property);
/// `createpolicy.cvt`.
[[nodiscard]] std::uint64_t policy_of_property(std::uint64_t access_property);

}  // namespace warpline
