#pragma once

#include <cstdint>

namespace warpline {

/// One step of SplitMix64: a bijective mix of 64 bits. `splitmix64(seed + i)` is element i of a
/// stream that any host and any compiler reproduces.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// A small deterministic generator; never seeded from the host.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() { return splitmix64(state_++); }
  /// Uniform in [0, bound). Pre: bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  template <class Archive>
  void archive(Archive& a) {
    a(state_);
  }

 private:
  std::uint64_t state_;
};

}  // namespace warpline
