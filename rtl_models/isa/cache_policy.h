#pragma once

#include <cstdint>
#include <optional>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// The 64-bit descriptors that `createpolicy` yields and `.L2::cache_hint` takes (PTX ISA,
/// "createpolicy"; layout: CUDA's open headers).
///
///   63 zero | 62 promote to 256 B | 61 no L1 | 60:59 mode | 58:57 primary | 56 secondary
///   mode 0, implicit:   58:0 zero
///   mode 2, fractional: 55:52 sixteenths - 1, 51:0 zero
///   mode 3, range:      55:52 log2(block) - 12, 51 zero, 50:44 start, 43:37 count, 36:0 zero
///
/// Primary: 0 unchanged, 1 first, 2 last, 3 normal. Secondary: 0 unchanged, 1 first.

/// What the CUDA APIs call an access property; its value is a descriptor.
enum class AccessProperty : std::uint8_t { global, normal, streaming, persisting };

/// A descriptor, taken apart. Fields that its mode has no place for have the values given here.
struct CachePolicy {
  enum class Mode : std::uint8_t {
    implicit,    ///< names no priority: the access is treated as one without a policy
    fractional,  ///< `sixteenths` of the lines, picked by a hash of their address, are primary
    range,       ///< `count` blocks of 2^`block_shift` bytes from block `start` on, modulo 128, are primary
  };
  Mode mode = Mode::implicit;
  L2Eviction primary = L2Eviction::unchanged;
  L2Eviction secondary = L2Eviction::unchanged;  ///< first or unchanged
  unsigned sixteenths = 16;                      ///< fractional: 1 to 16
  unsigned block_shift = 12;                     ///< range: 12 to 27
  unsigned start = 0;                            ///< range: 0 to 127
  unsigned count = 0;                            ///< range: 0 to 127
  bool skips_l1 = false;                         ///< bit 61: do not allocate at L1
  bool promotes = false;                         ///< bit 62: fetch 256 bytes into L2

  /// The priority of an access to `address`: of its 128-byte line, the same in every run; `none` of an
  /// implicit policy. The hash of fractional policies spreads evenly: of 16 lines whose numbers differ in
  /// four adjacent bits only, such as 16 adjacent lines or those of a set, exactly `sixteenths` are primary.
  [[nodiscard]] L2Eviction applied_to(std::uint64_t address) const;
};

/// The fields of `descriptor`; nothing where it is malformed: mode 1, or bits set that must be zero.
/// Malformed ones act as `evict_normal`; the caller counts them.
[[nodiscard]] std::optional<CachePolicy> decode_policy(std::uint64_t descriptor);
/// The inverse of decode_policy. Pre: the fields are in their ranges, and those without a place unset.
[[nodiscard]] std::uint64_t encode_policy(const CachePolicy& policy);

/// `createpolicy.fractional`: sixteenths - 1 is fraction * 15.99, computed and truncated in binary32 as the
/// assembler and the code that it makes do. CUDA's headers truncate (fraction - 2^-23) * 16 instead: one
/// sixteenth more just above k/16 (see library_sixteenths). PTX wants a fraction in (0, 1], and
/// programs that ask for another one end with a fault before this; of others the product saturates to 32
/// unsigned bits (NaN and negative: 0), and its low four bits are taken, as that code does. Pre: `secondary`
/// is first or unchanged.
[[nodiscard]] std::uint64_t fractional_policy(L2Eviction primary, L2Eviction secondary, float fraction);
/// The sixteenths that CUDA's headers make of `fraction`. Pre: 0 < fraction <= 1.
[[nodiscard]] unsigned library_sixteenths(float fraction);
/// `createpolicy.range`: primary in [address, address + primary_bytes), as far as the descriptor's rounding
/// to blocks and its 127 blocks go. Blocks are the smallest of 4 KiB and more of which 128 hold
/// `total_bytes`. Sizes count exactly, as in CUDA's headers; the assembler's code takes log2(total_bytes) in
/// binary32 and wraps sums of 32 bits, and so differs for some totals just above a power of two and sizes
/// near 4 GiB. Like it, no byte in total makes a policy that leaves every line unchanged. Pre: `secondary` is
/// first or unchanged.
[[nodiscard]] std::uint64_t range_policy(L2Eviction primary, L2Eviction secondary, std::uint64_t address,
                                         std::uint32_t primary_bytes, std::uint32_t total_bytes);
/// The descriptor of an access property. `createpolicy.cvt` makes none from it: it yields its operand, as
/// the assembler's code does, whatever that holds.
[[nodiscard]] std::uint64_t static_policy(AccessProperty property);

}  // namespace warpline
