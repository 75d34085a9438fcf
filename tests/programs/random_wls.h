#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline::test {

/// A random `.wls` program of threads that share nothing, and what it must leave. Threads compute, load and
/// store in local and global memory of their own, call (all or some of a warp, deep and flat), and put in
/// between whatever must change nothing: write-backs, invalidations and prefetches of lines and of
/// everything, write-backs of the call-return stack, scoreboards and schedules. CCTLL.RS loses its line: it
/// is only asked to where the line was written back or is written anew.
struct RandomWls {
  static constexpr unsigned kRegisters = 8;    ///< R8 to R15, which the program leaves in `out`
  static constexpr unsigned kLocalWords = 6;   ///< ordinary ones
  static constexpr unsigned kGlobalWords = 4;  ///< of each thread
  static constexpr unsigned kOutWords = kRegisters + kLocalWords;

  unsigned ctas = 1, threads = 32;
  std::string text;
  std::vector<std::uint32_t> data;  ///< what `data` holds in the end
  std::vector<std::uint32_t> out;   ///< of each thread its registers, then its local words
};

[[nodiscard]] RandomWls random_wls(Random& random);

}  // namespace warpline::test
