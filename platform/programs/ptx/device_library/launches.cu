// Launches from the device (CUDA dynamic parallelism).
#include <cstddef>

#include "launch_slot.h"
#include "library.h"

using warpline::device::LaunchSlot;

struct Launches {
  Word base, slots;
  Word taken;      ///< slots, in order; beyond `slots` none is there
  unsigned error;  ///< of the last call that failed, cudaGetLastError's; all threads share it
  unsigned depth;  ///< of the grid that runs: 0 of one from the host
};

extern "C" {

__device__ Launches __warpline_launches;

__device__ __attribute__((weak)) void* library___cudaCDP2GetParameterBufferV2(void* kernel, dim3 grid, dim3 block,
                                                                              unsigned shared_bytes) {
  Launches& launches = __warpline_launches;
  const Word threads = Word{block.x} * block.y * block.z;
  unsigned error = 0;
  if (grid.x == 0 || grid.x > 2147483647U || grid.y == 0 || grid.y > 65535 || grid.z == 0 || grid.z > 65535 ||
      threads == 0 || threads > 1024 || block.z > 64)
    error = cudaErrorInvalidConfiguration;
  else if (launches.base == 0)
    error = cudaErrorNotSupported;
  else if (launches.depth + 1 >= warpline::device::kDeepestLaunch)
    error = cudaErrorLaunchMaxDepthExceeded;
  Word slot = 0;
  if (error == 0) {
    slot = atomicAdd(&launches.taken, 1);
    if (slot >= launches.slots) error = cudaErrorLaunchPendingCountExceeded;
  }
  if (error != 0) {
    atomicExch(&launches.error, error);
    return nullptr;
  }
  LaunchSlot* const s = reinterpret_cast<LaunchSlot*>(launches.base) + slot;
  s->kernel = reinterpret_cast<Word>(kernel);
  s->grid[0] = grid.x;
  s->grid[1] = grid.y;
  s->grid[2] = grid.z;
  s->block[0] = block.x;
  s->block[1] = block.y;
  s->block[2] = block.z;
  s->shared_bytes = shared_bytes;
  return s->parameters;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2LaunchDeviceV2(void* parameters, cudaStream_t stream) {
  Launches& launches = __warpline_launches;
  const Word offset = reinterpret_cast<Word>(parameters) - launches.base - offsetof(LaunchSlot, parameters);
  if (launches.base == 0 || offset % sizeof(LaunchSlot) != 0 || offset / sizeof(LaunchSlot) >= launches.slots) {
    atomicExch(&launches.error, unsigned{cudaErrorInvalidValue});
    return cudaErrorInvalidValue;
  }
  LaunchSlot* const s = reinterpret_cast<LaunchSlot*>(launches.base) + offset / sizeof(LaunchSlot);
  s->stream = reinterpret_cast<Word>(stream);
  // What the thread has written before is there when the grid begins.
  __threadfence();
  s->state = warpline::device::kLaunched;
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2GetLastError() {
  return atomicExch(&__warpline_launches.error, 0U);
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2PeekAtLastError() {
  return look(__warpline_launches.error);
}

/// All streams but those of fire and forget and of tail launches are one: grids come one after the other.
__device__ __attribute__((weak)) unsigned library___cudaCDP2StreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(16);
  return cudaSuccess;
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2StreamDestroy(cudaStream_t) { return cudaSuccess; }

__device__ __attribute__((weak)) unsigned library___cudaCDP2LaunchDeviceV2_ptsz(void* parameters, cudaStream_t stream) {
  return library___cudaCDP2LaunchDeviceV2(parameters, stream);
}

/// Nothing that waits for an event begins before what was launched ahead of it is complete.
__device__ __attribute__((weak)) unsigned library___cudaCDP2EventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(16);
  return cudaSuccess;
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2EventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
__device__ __attribute__((weak)) unsigned library___cudaCDP2EventRecord_ptsz(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
__device__ __attribute__((weak)) unsigned library___cudaCDP2EventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned) {
  return cudaSuccess;
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2EventDestroy(cudaEvent_t) { return cudaSuccess; }
__device__ __attribute__((weak)) unsigned library___cudaCDP2StreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2StreamWaitEvent_ptsz(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}

/// A kernel sees its own GPU alone.
__device__ __attribute__((weak)) unsigned library___cudaCDP2GetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2GetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

/// Of the errors that this library makes.
__device__ __attribute__((weak)) const char* library___cudaCDP2GetErrorName(unsigned error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorLaunchMaxDepthExceeded: return "cudaErrorLaunchMaxDepthExceeded";
    case cudaErrorLaunchPendingCountExceeded: return "cudaErrorLaunchPendingCountExceeded";
    case cudaErrorNotSupported: return "cudaErrorNotSupported";
    default: return "unrecognized error code";
  }
}
__device__ __attribute__((weak)) const char* library___cudaCDP2GetErrorString(unsigned error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorLaunchMaxDepthExceeded: return "too many grids lie one within the other";
    case cudaErrorLaunchPendingCountExceeded: return "too many grids are launched";
    case cudaErrorNotSupported: return "operation not supported";
    default: return "unrecognized error code";
  }
}

}  // extern "C"
