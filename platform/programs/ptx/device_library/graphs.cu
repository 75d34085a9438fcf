// Conditions of graphs (CUDA C++ Programming Guide, "Conditional Graph Nodes"): a handle is where the value
// lies.
#include "library.h"

extern "C" {

__device__ __attribute__((weak)) void library_cudaGraphSetConditional(Word handle, unsigned value) {
  *reinterpret_cast<volatile unsigned*>(handle) = value;
}

}  // extern "C"
