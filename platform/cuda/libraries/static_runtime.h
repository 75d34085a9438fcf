#pragma once

#include <cstddef>
#include <string>

namespace warpline::cuda {

/// What became of CUDA runtimes that are linked into the program and its libraries.
struct StaticRuntime {
  std::size_t found = 0;  ///< entry points of them; 0: there is none, or what has one is stripped
  std::size_t led = 0;    ///< those that lead to ours now
};

/// Writes a jump to our function over every entry point of CUDA's runtime that the running program or a
/// library of it has linked in (nvcc's default, `-cudart static`), by its symbol table; to one that says that
/// it is not modelled, where that is so: none may be left that would look for a driver. To be called before
/// the program's own constructors.
StaticRuntime lead_static_runtime();

}  // namespace warpline::cuda
