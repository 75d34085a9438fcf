#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// Whether `n` is 1, 2, 4 and so on.
constexpr bool is_power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

/// The least multiple of `alignment` that is not below `value`.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Of a ring of 64 slots, in which number n has slot n mod 64: a bit for the slot of each number after `last`
/// up to `now`. Pre: last <= now.
constexpr std::uint64_t ring_slots_after(std::uint64_t last, std::uint64_t now) {
  const std::uint64_t span = now - last;
  if (span >= 64) return ~std::uint64_t{0};
  const std::uint64_t ones = (std::uint64_t{1} << span) - 1;
  const unsigned first = static_cast<unsigned>((last + 1) % 64);
  return first == 0 ? ones : ones << first | ones >> (64 - first);
}

/// Of such a ring whose slots `occupied` are: the first number after `now` that has one; all ones: none is.
constexpr std::uint64_t next_in_ring(std::uint64_t occupied, std::uint64_t now) {
  if (occupied == 0) return ~std::uint64_t{0};
  const unsigned start = static_cast<unsigned>((now + 1) % 64);
  const std::uint64_t turned = start == 0 ? occupied : occupied >> start | occupied << (64 - start);
  return now + 1 + static_cast<unsigned>(__builtin_ctzll(turned));
}

/// The lowest `bits` bits of `value`, of 1 to 64, as a number of two's complement.
constexpr std::int64_t sign_extended(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// The number that `count` bytes are, up to 8, little-endian.
inline std::uint64_t number_at(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{bytes[i]} << 8 * i;
  return value;
}

/// Makes `count` bytes that number, little-endian; those behind the eighth are 0.
inline void put_number(std::uint8_t* bytes, std::size_t count, std::uint64_t value) {
  for (std::size_t i = 0; i < count; ++i, value >>= 8U) bytes[i] = static_cast<std::uint8_t>(value);
}

/// The same bits as another type of the same size: C++20's bit_cast.
template <class To, class From>
To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// Some bits of a register or of a word in memory.
struct WARPLINE_PUBLIC BitField {
  std::uint8_t low;   ///< lowest bit
  std::uint8_t bits;  ///< how many: 1 to 64

  [[nodiscard]] constexpr std::uint64_t mask() const { return (~std::uint64_t{0} >> (64U - bits)) << low; }
  /// The field's value in `word`.
  [[nodiscard]] constexpr std::uint64_t in(std::uint64_t word) const { return (word & mask()) >> low; }
  /// A word of nothing but this field. What `value` has beyond the field is cut off.
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t value) const { return (value << low) & mask(); }
};

}  // namespace warpline
