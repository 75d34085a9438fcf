#pragma once

// Read by the device library (CUDA), and written by who knows the GPU and its kernels (C++).

namespace warpline::device {

/// A kernel of the module, as cudaFuncGetAttributes tells it, and how many blocks of it an SM has at once.
struct KernelFacts {
  unsigned long long kernel;  ///< the value of a pointer to it
  unsigned long long static_shared, local_bytes;
  int most_threads, registers, version, most_dynamic_shared;
  int needs_cluster, cluster[3], odd_clusters;
  unsigned blocks[32];  ///< of 1 to 32 warps, if it had no shared memory
  unsigned padding;
};

/// What kernels can ask of their GPU, and of the kernels of their module, which lie behind.
struct DeviceFacts {
  static constexpr int kAttributes = 160, kLimits = 8, kNone = -0x7FFFFFFF;
  int attributes[kAttributes];         ///< by CUDA's numbers; kNone: there is no such one
  unsigned long long limits[kLimits];  ///< by CUDA's numbers; ~0: there is no such one
  /// Bytes that an SM has, of which it hands out whole units, keeps some of each block, and gives one block
  /// no more than this.
  unsigned shared_of_sm, shared_unit, shared_reserved, most_shared;
  unsigned long long kernels;
};

}  // namespace warpline::device
