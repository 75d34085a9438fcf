#pragma once

#include <cstdint>

namespace warpline {

/// Addresses on the bus; none if it has no bytes.
struct BusRange {
  std::uint64_t base = 0, bytes = 0;
  template <class Archive>
  void archive(Archive& a) {
    a(base, bytes);
  }
  /// Whether `count` bytes from `address` on lie in it; of none, whether the address does.
  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t count) const {
    return address >= base && address - base < bytes && count <= bytes - (address - base);
  }
  /// Pre: neither reaches past the last address.
  [[nodiscard]] bool overlaps(const BusRange& other) const {
    return bytes != 0 && other.bytes != 0 && base < other.base + other.bytes && other.base < base + bytes;
  }
};

}  // namespace warpline
