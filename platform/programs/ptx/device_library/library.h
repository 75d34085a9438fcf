// What programs call that nvcc leaves to the driver. Each of these files is linked with modules that call one
// of its functions. Their memory is that of variables (__warpline_...), which whoever runs the program points
// to memory of its own; where nobody does, printf fails and malloc finds no memory. ./recompile makes PTX of
// them, in which library_malloc is malloc: here that name is taken.
#pragma once

using Word = unsigned long long;

/// A mistake of the program: ends the warp with a fault record (library_opcodes.cpp).
#define LIBRARY_TRAP(why, address) asm volatile("warpline_trap %0, %1;" ::"n"(why), "l"(address))
#define ASSERTION_FAILED 0
#define FREED_TWICE 1
#define NOT_ALLOCATED 2

namespace device_library {

/// Of other SMs' making: read where they meet.
template <class T>
__device__ T look(const T& at) {
  return *const_cast<const volatile T*>(&at);
}

}  // namespace device_library
using namespace device_library;
