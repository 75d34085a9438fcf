#pragma once

#include <cstdint>
#include <cstdlib>

namespace warpline {

/// A number from the environment, for the length and the start of a random test.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace warpline
