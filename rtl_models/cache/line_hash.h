#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpline {

/// The hash of line numbers by masks: bit i is the parity of the number AND mask i. Slices are chosen by it,
/// and so are a slice's sets. Parity is linear in the bits, so each byte of a number contributes what a table
/// says.
class LineHash {
 public:
  LineHash() = default;
  /// Pre: at most 16 masks.
  explicit LineHash(const std::vector<std::uint64_t>& masks) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      Parities& of_byte = bytes_.emplace_back();
      for (std::size_t i = 0; i < masks.size(); ++i) {
        const std::uint64_t mask = (masks[i] >> shift) & 0xFFU;
        for (std::uint64_t value = 0; value < 256; ++value)
          of_byte[value] = static_cast<std::uint16_t>(
              of_byte[value] | static_cast<unsigned>(__builtin_parityll(value & mask)) << i);
      }
    }
  }
  [[nodiscard]] std::uint64_t of(std::uint64_t number) const {
    std::uint64_t hash = 0;
    if (bytes_.empty()) return hash;
    // Most numbers are small: what is zero above contributes nothing.
    for (const Parities* byte = bytes_.data(); number != 0; number >>= 8U) hash ^= (*byte++)[number & 0xFFU];
    return hash;
  }

 private:
  using Parities = std::array<std::uint16_t, 256>;
  std::vector<Parities> bytes_;  ///< of each byte of a number; none: no mask
};

}  // namespace warpline
