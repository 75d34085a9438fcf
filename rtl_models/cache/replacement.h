#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpline {

/// What the key `replacement` of every cache means.
inline constexpr const char* kReplacementMeaning =
    "which line of a set makes room, among those of the lowest eviction class: lru, the least recently used; "
    "pseudo_lru, one in the half, quarter and so on of the set that was used less recently; random, any";

/// Which of the lines of a set makes room that are of the lowest eviction class there. An invalid line is
/// taken before any other.
enum class Replacement : std::uint8_t {
  lru,         ///< the least recently used
  pseudo_lru,  ///< of the two halves of the set the one that was used less recently, of its halves likewise
  random,      ///< any: drawn from how many times lines of the array have been used
};

[[nodiscard]] constexpr std::optional<Replacement> replacement_named(std::string_view name) {
  if (name == "lru") return Replacement::lru;
  if (name == "pseudo_lru") return Replacement::pseudo_lru;
  if (name == "random") return Replacement::random;
  return std::nullopt;
}

}  // namespace warpline
