#pragma once

#include <string>

#include "rtl_models/base/random.h"

namespace warpline::litmus::test {

/// A kernel and the launch that runs it.
struct KernelText {
  std::string ptx;
  std::string launch;  ///< of "k.ptx"
};

/// A random kernel: 2 to 6 threads of up to 3 CTAs do up to 10 operations each on few bytes of global and
/// shared memory. Loads and stores of all sizes, semantics and scopes, vectors, atomics, reductions, fences,
/// barriers, cache operators, `.nc`, mmio. Few values, many times: what a read reads is seldom told by its
/// value.
[[nodiscard]] KernelText random_kernel(Random& random);

}  // namespace warpline::litmus::test
