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
      Byte byte;
      byte.shift = shift;
      bool covered = false;
      for (std::size_t i = 0; i < masks.size(); ++i) {
        const std::uint64_t mask = (masks[i] >> shift) & 0xFFU;
        covered = covered || mask != 0;
        for (std::uint64_t value = 0; value < 256; ++value)
          byte.parities[value] = static_cast<std::uint16_t>(
              byte.parities[value] | static_cast<unsigned>(__builtin_parityll(value & mask)) << i);
      }
      if (covered) bytes_.push_back(byte);
    }
  }
  [[nodiscard]] std::uint64_t of(std::uint64_t number) const {
    std::uint64_t hash = 0;
    for (const Byte& byte : bytes_) hash ^= byte.parities[(number >> byte.shift) & 0xFFU];
    return hash;
  }

 private:
  struct Byte {
    unsigned shift = 0;
    std::array<std::uint16_t, 256> parities{};
  };
  std::vector<Byte> bytes_;  ///< those that a mask covers
};

}  // namespace warpline
