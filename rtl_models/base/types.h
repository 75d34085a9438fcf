#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// A number that only mixes with its own kind: a line number is not an address, a virtual
/// address is not a physical one. `Tag` is never defined.
template <class Tag, class Rep = std::uint64_t>
struct Strong {
  Rep value{};
  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  friend constexpr bool operator==(Strong a, Strong b) { return a.value == b.value; }
  friend constexpr bool operator!=(Strong a, Strong b) { return a.value != b.value; }
  friend constexpr bool operator<(Strong a, Strong b) { return a.value < b.value; }
};

/// A byte address as a program writes it (after the generic windows are resolved).
using VirtualAddress = Strong<struct VirtualAddressTag>;
/// A byte address on the buses: the aperture in bits 63:60, the offset into that memory below.
using PhysicalAddress = Strong<struct PhysicalAddressTag>;

/// A cycle of the fastest clock of a netlist, counted from its reset.
using Cycle = std::uint64_t;
/// "Not until something happens."
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

/// Bytes of a cache line, and of the sector in which it is fetched.
inline constexpr unsigned kLineBytes = 128;
inline constexpr unsigned kSectorBytes = 32;
inline constexpr unsigned kSectorsPerLine = kLineBytes / kSectorBytes;
inline constexpr unsigned kWarpLanes = 32;

/// Bit s stands for sector s of a line.
using SectorMask = std::uint8_t;
inline constexpr SectorMask kAllSectors = 0xF;
/// The number of sectors in `mask`. (A packed table: baseline x86-64 has no instruction for it.)
constexpr unsigned sector_count(SectorMask mask) {
  return static_cast<unsigned>(0x4332322132212110ULL >> ((mask & kAllSectors) * 4U)) & 0xFU;
}
/// The sectors that `bytes` bytes from `offset` of a line touch. Pre: bytes > 0, offset + bytes <= 128.
constexpr SectorMask sectors_of(unsigned offset, unsigned bytes) {
  return static_cast<SectorMask>((2U << ((offset + bytes - 1) / kSectorBytes)) -
                                 (1U << (offset / kSectorBytes)));
}
/// Bit n stands for lane n of a warp.
using LaneMask = std::uint32_t;
/// The number of lanes in `mask`.
constexpr unsigned lane_count(LaneMask mask) {
  if (mask == ~LaneMask{0}) return 32;  // nearly always
  mask -= (mask >> 1U) & 0x55555555U;
  mask = (mask & 0x33333333U) + ((mask >> 2U) & 0x33333333U);
  return (((mask + (mask >> 4U)) & 0x0F0F0F0FU) * 0x01010101U) >> 24U;
}

/// Which memory a physical address lies in. Other values name no memory: nothing answers there.
/// `multicast`: the memory of several GPUs at once, a place in each one's video memory (see MulticastTable).
enum class Aperture : std::uint8_t { vidmem = 0, peer = 1, sysmem = 2, multicast = 4 };
inline constexpr unsigned kApertureShift = 60;

constexpr Aperture aperture_of(PhysicalAddress a) {
  return static_cast<Aperture>(a.value >> kApertureShift);
}
/// The offset of `a` in its aperture's memory, in bytes.
constexpr std::uint64_t offset_in_aperture(PhysicalAddress a) {
  return a.value & ((std::uint64_t{1} << kApertureShift) - 1);
}
constexpr PhysicalAddress physical(Aperture aperture, std::uint64_t offset) {
  return PhysicalAddress{(static_cast<std::uint64_t>(aperture) << kApertureShift) | offset};
}

template <class A>
constexpr A line_of(A a) {
  return A{a.value & ~std::uint64_t{kLineBytes - 1}};
}
template <class A>
constexpr unsigned offset_in_line(A a) {
  return static_cast<unsigned>(a.value & (kLineBytes - 1));
}
template <class A>
constexpr std::uint64_t line_number(A a) {
  return a.value / kLineBytes;
}

/// Three extents, as CUDA counts them.
struct WARPLINE_PUBLIC Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  /// Of a block: its number in `grid`, by x first, then y, then z.
  [[nodiscard]] constexpr std::uint64_t number_in(const Dim3& grid) const {
    return x + std::uint64_t{grid.x} * (y + std::uint64_t{grid.y} * z);
  }
  template <class Archive>
  void archive(Archive& a) {
    a(x, y, z);
  }
  friend constexpr bool operator==(const Dim3& a, const Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

}  // namespace warpline
