#pragma once

#include <vector>

#include "platform/consistency/test.h"

namespace warpline::litmus {

/// On which GPU each part of a test is. GPUs are numbered in the order in which the test's threads name them.
struct Places {
  unsigned gpus = 0;
  std::vector<unsigned> of_thread;
  std::vector<Home> home;  ///< by memory
  /// By memory: the GPUs whose threads access it.
  std::vector<std::vector<unsigned>> users;

  /// Whose video memory holds memory `m`.
  [[nodiscard]] unsigned owner(unsigned m) const { return users[m].empty() ? 0 : users[m].front(); }
  /// Whether GPU `g` reaches memory `m`.
  [[nodiscard]] bool reaches(unsigned g, unsigned m) const {
    return home[m] != Home::vidmem || owner(m) == g;
  }
};

/// A memory of which the test says nothing lies in the video memory of the GPU that accesses it, or in system
/// memory if several do.
[[nodiscard]] Places places_of(const Test& test);

}  // namespace warpline::litmus
