// What kernels ask of their GPU and of kernels (CUDA dynamic parallelism, "Device Runtime API Reference").
#include "device_facts.h"
#include "library.h"

using warpline::device::DeviceFacts;
using warpline::device::KernelFacts;

extern "C" {

__device__ Word __warpline_facts;

}

namespace {

__device__ __forceinline__ const DeviceFacts* facts() {
  return reinterpret_cast<const DeviceFacts*>(__warpline_facts);
}

/// Null: it is no kernel of this module.
__device__ __forceinline__ const KernelFacts* kernel_of(const void* function) {
  const DeviceFacts* const f = facts();
  const auto* const all = reinterpret_cast<const KernelFacts*>(f + 1);
  for (Word n = 0; n < f->kernels; ++n)
    if (all[n].kernel == reinterpret_cast<Word>(function)) return all + n;
  return nullptr;
}

}  // namespace

extern "C" {

__device__ __attribute__((weak)) unsigned library___cudaCDP2DeviceGetAttribute(int* value, int attribute,
                                                                               int device) {
  if (facts() == nullptr) return cudaErrorNotSupported;
  if (device != 0) return cudaErrorInvalidDevice;
  if (value == nullptr || attribute < 0 || attribute >= DeviceFacts::kAttributes ||
      facts()->attributes[attribute] == DeviceFacts::kNone)
    return cudaErrorInvalidValue;
  *value = facts()->attributes[attribute];
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2DeviceGetLimit(size_t* value, int limit) {
  if (facts() == nullptr) return cudaErrorNotSupported;
  if (value == nullptr) return cudaErrorInvalidValue;
  if (limit < 0 || limit >= DeviceFacts::kLimits || ~facts()->limits[limit] == 0)
    return cudaErrorUnsupportedLimit;
  *value = facts()->limits[limit];
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2DeviceGetCacheConfig(int* preference) {
  if (preference == nullptr) return cudaErrorInvalidValue;
  *preference = 0;
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2RuntimeGetVersion(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2FuncGetAttributes(cudaFuncAttributes* attributes,
                                                                              const void* function) {
  if (facts() == nullptr) return cudaErrorNotSupported;
  if (attributes == nullptr) return cudaErrorInvalidValue;
  const KernelFacts* const k = kernel_of(function);
  if (k == nullptr) return cudaErrorInvalidDeviceFunction;
  cudaFuncAttributes& a = *attributes;
  a.sharedSizeBytes = k->static_shared;
  a.constSizeBytes = 0;
  a.localSizeBytes = k->local_bytes;
  a.maxThreadsPerBlock = k->most_threads;
  a.numRegs = k->registers;
  a.ptxVersion = a.binaryVersion = k->version;
  a.cacheModeCA = 0;
  a.maxDynamicSharedSizeBytes = k->most_dynamic_shared;
  a.preferredShmemCarveout = -1;
  a.clusterDimMustBeSet = k->needs_cluster;
  a.requiredClusterWidth = k->cluster[0];
  a.requiredClusterHeight = k->cluster[1];
  a.requiredClusterDepth = k->cluster[2];
  a.clusterSchedulingPolicyPreference = 0;
  a.nonPortableClusterSizeAllowed = k->odd_clusters;
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned
library___cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                     int threads, size_t dynamic,
                                                                     unsigned flags) {
  const DeviceFacts* const f = facts();
  if (f == nullptr) return cudaErrorNotSupported;
  if (blocks == nullptr || threads <= 0 || flags > 1) return cudaErrorInvalidValue;
  const KernelFacts* const k = kernel_of(function);
  if (k == nullptr) return cudaErrorInvalidDeviceFunction;
  const Word most = f->most_shared, shared = k->static_shared + dynamic;
  *blocks = 0;
  if (threads > 1024 || dynamic > most || shared > most) return cudaSuccess;
  const Word whole = (shared + f->shared_reserved + f->shared_unit - 1) / f->shared_unit * f->shared_unit;
  Word fit = k->blocks[(threads - 1) / 32];
  if (whole != 0 && f->shared_of_sm / whole < fit) fit = f->shared_of_sm / whole;
  *blocks = static_cast<int>(fit);
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void* function, int threads, size_t dynamic) {
  return library___cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic,
                                                                              0);
}

}  // extern "C"
