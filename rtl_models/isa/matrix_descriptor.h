#pragma once

#include <cstdint>

#include "rtl_models/base/bits.h"

namespace warpline {

/// Where a matrix lies in shared memory for `wgmma` (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared
/// Memory Layout", "Matrix Descriptor Format"; CUTLASS's canonical layouts of its descriptors). Lines are
/// rows of A or columns of B. Addresses are bytes in the CTA's shared memory.
struct MatrixDescriptor {
  std::uint64_t start = 0;
  std::uint64_t leading = 0, stride = 0;  ///< byte offsets
  unsigned base = 0;                      ///< where the pattern of the swizzle begins, in lines of 128 bytes
  unsigned swizzle = 0;  ///< exchanges 16 bytes within 2 to the power of this: 0 (none) to 3 (128 bytes)

  [[nodiscard]] static MatrixDescriptor of(std::uint64_t bits) {
    constexpr BitField kStart{0, 14}, kLeading{16, 14}, kStride{32, 14}, kBase{49, 3}, kMode{62, 2};
    constexpr unsigned kSwizzles[] = {0, 3, 2, 1};
    return {kStart.in(bits)*16, kLeading.in(bits)*16, kStride.in(bits)*16,
            static_cast<unsigned>(kBase.in(bits)), kSwizzles[kMode.in(bits)]};
  }
  /// Byte `byte` of line `line`, whose elements lie together along k. Where a line is longer than the swizzle
  /// is wide, as B of a sparse product may be, its next part follows at the leading offset (assumed).
  [[nodiscard]] std::uint64_t along_k(unsigned line, unsigned byte) const {
    const std::uint64_t group = start + line / 8 * stride;
    if (swizzle == 0) return group + line % 8 * 16 + byte / 16 * leading + byte % 16;
    return exchanged(group + byte / width() * leading + std::uint64_t{line % 8} * width() + byte % width());
  }
  /// Element k, of 16 bits, of line `line`, where neighbours of the same k lie together.
  [[nodiscard]] std::uint64_t across_k(unsigned line, unsigned k) const {
    const unsigned chunk = line / 8, within = line % 8 * 2;
    if (swizzle == 0) return start + chunk * stride + k / 8 * leading + std::uint64_t{k % 8} * 16 + within;
    const unsigned chunks = width() / 16;
    return exchanged(start + chunk % chunks * 16 + chunk / chunks * leading + std::uint64_t{k % 8} * width() +
                     k / 8 * stride + within);
  }

 private:
  [[nodiscard]] unsigned width() const { return 16U << swizzle; }
  [[nodiscard]] std::uint64_t exchanged(std::uint64_t at) const {
    return at ^ (((at >> 7U) - base) & ((1U << swizzle) - 1)) << 4U;
  }
};

}  // namespace warpline
