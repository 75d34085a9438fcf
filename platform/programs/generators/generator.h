#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {

/// A synthetic access pattern over one buffer.
struct WARPLINE_PUBLIC GeneratorParameters {
  std::string kind;             ///< stream, strided, random, chase or reuse
  std::uint64_t base = 0;       ///< virtual address of the footprint
  std::uint64_t footprint = 0;  ///< bytes
  std::uint64_t stride = 4;  ///< bytes between the accesses of neighbouring lanes (strided), or nodes (chase)
  std::uint64_t accesses = 0;  ///< warp loads in all; 0: one sweep of the footprint (reuse: by every warp)
  std::uint64_t seed = 1;      ///< of random and chase
  Dim3 grid, block;
  /// Every fault at once, each under its path.
  [[nodiscard]] Problems problems(const std::string& path) const;
};

/// A kernel of loads and nothing else. Addresses only, no data.
/// - stream: consecutive lanes load consecutive 4-byte words, a line of 128 bytes per warp; the lines go to
///   the warps of the grid in turn, as in a grid-stride loop, and start over at the end of the footprint.
/// - strided: likewise, with the lanes `stride` bytes apart.
/// - random: each lane loads a 4-byte word anywhere, drawn from (seed, warp, index, lane).
/// - chase: one lane of the first warp follows a random cycle through all nodes, which lie `stride` bytes
///   apart; each 8-byte load waits for the one before. All other warps end at once.
/// - reuse: every warp streams through the whole footprint, again and again.
///
/// Of n accesses, each of W warps makes n/W, and the first n%W one more. Loads of a warp are independent but
/// for chase: 16 of them are in flight before one must return. Pre: parameters.problems() is empty.
WARPLINE_PUBLIC [[nodiscard]] std::unique_ptr<Kernel> make_generator(const GeneratorParameters& parameters);

}  // namespace warpline
