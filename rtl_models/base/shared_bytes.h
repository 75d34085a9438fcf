#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace warpline {

/// Calls `copy` for the parts of a range at `shared`, in their order, with the place of each and a number of
/// its size: naturally aligned ones of 8 bytes, and at the edges the largest that fit.
template <class Copy>
void each_in_order(const std::uint8_t* shared, std::size_t bytes, Copy copy) {
  std::size_t at = 0;
  const auto is_next = [&](std::size_t part) {
    return reinterpret_cast<std::uintptr_t>(shared + at) % part == 0 && bytes - at >= part;
  };
  const auto one = [&](auto part) {
    copy(at, part);
    at += sizeof part;
  };
  while (at < bytes) {
    if (is_next(8)) {
      one(std::uint64_t{});
    } else if (is_next(4)) {
      one(std::uint32_t{});
    } else if (is_next(2)) {
      one(std::uint16_t{});
    } else {
      one(std::uint8_t{});
    }
  }
}

/// Copies to memory that others look at meanwhile: they find each aligned 8, 4 or 2 bytes of the range whole,
/// and of two of them the later one no earlier. A completion's last word says that the others are there.
inline void copy_to_shared(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  each_in_order(to, bytes, [&](std::size_t at, auto part) {
    std::memcpy(&part, from + at, sizeof part);
    __atomic_store_n(static_cast<decltype(part)*>(static_cast<void*>(to + at)), part, __ATOMIC_RELEASE);
  });
}

/// Copies from memory that others change meanwhile, in the same parts and order.
inline void copy_from_shared(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  each_in_order(from, bytes, [&](std::size_t at, auto part) {
    part = __atomic_load_n(static_cast<const decltype(part)*>(static_cast<const void*>(from + at)),
                           __ATOMIC_ACQUIRE);
    std::memcpy(to + at, &part, sizeof part);
  });
}

}  // namespace warpline
