#pragma once

#include <cstdint>
#include <cstdlib>

namespace warpline {

/// A number from the environment, for the length and the start of a random test.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Whether random tests shall try all that they are made for, and not the slice of an everyday run.
inline bool every_seed() {
  return std::getenv("WARPLINE_EVERY_SEED") != nullptr;
}
/// Of so many seeds those that are tried: all of them, or the first third.
inline std::uint64_t everyday(std::uint64_t seeds) {
  return every_seed() ? seeds : (seeds + 2) / 3;
}

}  // namespace warpline
