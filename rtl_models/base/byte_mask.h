#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// One bit for each byte of a 128-byte line; bit n is byte n.
struct WARPLINE_PUBLIC ByteMask {
  std::uint64_t low = 0;   ///< bytes 0 to 63
  std::uint64_t high = 0;  ///< bytes 64 to 127

  template <class Archive>
  void archive(Archive& a) {
    a(low, high);
  }
  /// Marks `bytes` bytes from `offset`. Pre: offset + bytes <= 128.
  constexpr void set(unsigned offset, unsigned bytes) {
    for (unsigned i = 0; i < bytes;) {
      const unsigned at = offset + i;
      const unsigned room = 64 - at % 64;
      const unsigned n = bytes - i < room ? bytes - i : room;
      const std::uint64_t ones = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
      (at < 64 ? low : high) |= ones << (at % 64);
      i += n;
    }
  }
  [[nodiscard]] constexpr bool test(unsigned byte) const {
    return ((byte < 64 ? low : high) >> (byte % 64)) & 1U;
  }
  [[nodiscard]] constexpr std::uint32_t sector(unsigned s) const {
    return static_cast<std::uint32_t>((s < 2 ? low : high) >> (s % 2 * 32));
  }
  [[nodiscard]] constexpr bool any() const { return (low | high) != 0; }
  [[nodiscard]] unsigned count() const {
    return static_cast<unsigned>(__builtin_popcountll(low) + __builtin_popcountll(high));
  }
  /// The first marked byte. Pre: any().
  [[nodiscard]] unsigned first() const {
    return static_cast<unsigned>(low != 0 ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high));
  }
  /// One past the last marked byte. Pre: any().
  [[nodiscard]] unsigned end() const {
    return static_cast<unsigned>(high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low));
  }
  /// Sectors with at least one marked byte.
  [[nodiscard]] constexpr SectorMask sectors() const {
    const auto bit = [](bool any, unsigned s) { return static_cast<unsigned>(any) << s; };
    return static_cast<SectorMask>(bit(sector(0) != 0, 0) | bit(sector(1) != 0, 1) | bit(sector(2) != 0, 2) |
                                   bit(sector(3) != 0, 3));
  }
  /// Sectors with every byte marked.
  [[nodiscard]] constexpr SectorMask full_sectors() const {
    SectorMask m = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (sector(s) == 0xFFFFFFFFU) m = static_cast<SectorMask>(m | (1U << s));
    return m;
  }
  /// All bytes of the sectors in `mask`.
  static constexpr ByteMask of_sectors(SectorMask mask) {
    const auto pair = [](unsigned m) {
      return (m & 1U) * std::uint64_t{0xFFFFFFFF} | (m >> 1U & 1U) * std::uint64_t{0xFFFFFFFF00000000};
    };
    return {pair(mask), pair(mask >> 2U)};
  }
  friend constexpr ByteMask operator|(ByteMask a, ByteMask b) { return {a.low | b.low, a.high | b.high}; }
  friend constexpr ByteMask operator&(ByteMask a, ByteMask b) { return {a.low & b.low, a.high & b.high}; }
  friend constexpr ByteMask operator~(ByteMask a) { return {~a.low, ~a.high}; }
  friend constexpr bool operator==(ByteMask a, ByteMask b) { return a.low == b.low && a.high == b.high; }
};

/// Copies the bytes of `mask` from one line to another.
inline void copy_masked(std::uint8_t* to, const std::uint8_t* from, ByteMask mask) {
  for (unsigned half = 0; half < 2; ++half) {
    std::uint64_t bits = half == 0 ? mask.low : mask.high;
    if (bits == ~std::uint64_t{0}) {
      __builtin_memcpy(to + half * 64, from + half * 64, 64);
      continue;
    }
    while (bits != 0) {
      const unsigned b = half * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
      to[b] = from[b];
      bits &= bits - 1;
    }
  }
}

/// Copies whole sectors from one line to another.
inline void copy_sectors(std::uint8_t* to, const std::uint8_t* from, SectorMask mask) {
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    if ((mask >> s) & 1U) __builtin_memcpy(to + s * kSectorBytes, from + s * kSectorBytes, kSectorBytes);
}

}  // namespace warpline
