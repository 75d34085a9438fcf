#pragma once

namespace warpline::cuda {

/// Writes a jump to our function over every entry point of CUDA's runtime that the running program or a
/// library has linked in (nvcc's default, `-cudart static`), by its symbol table; to one that says that it is
/// not modelled, where that is so: none may be left that would look for a driver. The same is done to
/// libraries that are loaded later. What cannot be led is told on stderr. To be called before constructors of
/// the program and its libraries.
void lead_static_runtimes();

}  // namespace warpline::cuda
