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

}

namespace {

using warpline::device::LaunchedCopy;

__device__ __forceinline__ unsigned failed(unsigned error) {
  atomicExch(&__warpline_launches.error, error);
  return error;
}

/// A slot that is free; null: there is none, and why, which is noted.
__device__ __forceinline__ LaunchSlot* take_slot(unsigned& error) {
  Launches& launches = __warpline_launches;
  error = 0;
  if (launches.base == 0)
    error = cudaErrorNotSupported;
  else if (launches.depth + 1 >= warpline::device::kDeepestLaunch)
    error = cudaErrorLaunchMaxDepthExceeded;
  Word slot = 0;
  if (error == 0) {
    slot = atomicAdd(&launches.taken, 1);
    if (slot >= launches.slots) error = cudaErrorLaunchPendingCountExceeded;
  }
  if (error == 0) return reinterpret_cast<LaunchSlot*>(launches.base) + slot;
  failed(error);
  return nullptr;
}

__device__ __forceinline__ unsigned launch(LaunchSlot* s, cudaStream_t stream) {
  s->stream = reinterpret_cast<Word>(stream);
  // What the thread has written before is there when the grid begins.
  __threadfence();
  s->state = warpline::device::kLaunched;
  return cudaSuccess;
}

__device__ __forceinline__ Word word(const void* p) { return reinterpret_cast<Word>(p); }

}  // namespace

extern "C" {

__device__ __attribute__((weak)) void* library___cudaCDP2GetParameterBufferV2(void* kernel, dim3 grid, dim3 block,
                                                                              unsigned shared_bytes) {
  const Word threads = Word{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.x > 2147483647U || grid.y == 0 || grid.y > 65535 || grid.z == 0 || grid.z > 65535 ||
      threads == 0 || threads > 1024 || block.z > 64) {
    failed(cudaErrorInvalidConfiguration);
    return nullptr;
  }
  if (kernel == nullptr) {
    failed(cudaErrorInvalidDeviceFunction);
    return nullptr;
  }
  unsigned error = 0;
  LaunchSlot* const s = take_slot(error);
  if (s == nullptr) return nullptr;
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
  if (launches.base == 0 || offset % sizeof(LaunchSlot) != 0 || offset / sizeof(LaunchSlot) >= launches.slots)
    return failed(cudaErrorInvalidValue);
  return launch(reinterpret_cast<LaunchSlot*>(launches.base) + offset / sizeof(LaunchSlot), stream);
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2GetLastError() {
  return atomicExch(&__warpline_launches.error, 0U);
}

__device__ __attribute__((weak)) unsigned library___cudaCDP2PeekAtLastError() {
  return look(__warpline_launches.error);
}

/// Copies and fills take their turn among the grids that are launched, as in a stream.
__device__ __noinline__ __attribute__((weak)) unsigned library___warpline_copy(const LaunchedCopy* c, cudaStream_t stream) {
  if (c->width == 0 || c->height == 0 || c->depth == 0) return cudaSuccess;
  unsigned error = 0;
  LaunchSlot* const s = take_slot(error);
  if (s == nullptr) return error;
  s->kernel = warpline::device::kCopy;
  *reinterpret_cast<LaunchedCopy*>(s->parameters) = *c;
  return launch(s, stream);
}

#define IN_A_STREAM(name, parameters, values)                                                                     \
  __device__ __attribute__((weak)) unsigned library___cudaCDP2##name##_ptsz parameters { \
    return library___cudaCDP2##name values;                                                                                \
  }

__device__ __attribute__((weak)) unsigned library___cudaCDP2Memcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                                                          size_t from_pitch, size_t width,
                                                                          size_t height, int, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidPitchValue);
  const LaunchedCopy c = {word(to), to_pitch, 0, word(from), from_pitch, 0, width, height, 1, 0, 0};
  return library___warpline_copy(&c, stream);
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2MemcpyAsync(void* to, const void* from, size_t bytes, int,
                                                                        cudaStream_t stream) {
  const LaunchedCopy c = {word(to), bytes, 0, word(from), bytes, 0, bytes, 1, 1, 0, 0};
  return library___warpline_copy(&c, stream);
}
/// Of memory; kernels have no handles of arrays.
__device__ __attribute__((weak)) unsigned library___cudaCDP2Memcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  if (p->srcArray != nullptr || p->dstArray != nullptr) return failed(cudaErrorNotSupported);
  const size_t to_slice = p->dstPtr.pitch * p->dstPtr.ysize, from_slice = p->srcPtr.pitch * p->srcPtr.ysize;
  const Word to = word(p->dstPtr.ptr) + p->dstPos.z * to_slice + p->dstPos.y * p->dstPtr.pitch + p->dstPos.x;
  const Word from = word(p->srcPtr.ptr) + p->srcPos.z * from_slice + p->srcPos.y * p->srcPtr.pitch + p->srcPos.x;
  const LaunchedCopy c = {to,         p->dstPtr.pitch, to_slice,         from,            p->srcPtr.pitch,
                          from_slice, p->extent.width, p->extent.height, p->extent.depth, 0,
                          0};
  return library___warpline_copy(&c, stream);
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2Memset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                                                          cudaStream_t stream) {
  const LaunchedCopy c = {word(to.ptr), to.pitch,     to.pitch * to.ysize,          0, 0, 0, extent.width,
                          extent.height, extent.depth, static_cast<unsigned>(value), 1};
  return library___warpline_copy(&c, stream);
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2Memset2DAsync(void* to, size_t pitch, int value, size_t width,
                                                                          size_t height, cudaStream_t stream) {
  const LaunchedCopy c = {word(to), pitch, 0, 0, 0, 0, width, height, 1, static_cast<unsigned>(value), 1};
  return library___warpline_copy(&c, stream);
}
__device__ __attribute__((weak)) unsigned library___cudaCDP2MemsetAsync(void* to, int value, size_t bytes,
                                                                        cudaStream_t stream) {
  return library___cudaCDP2Memset2DAsync(to, bytes, value, bytes, 1, stream);
}
IN_A_STREAM(Memcpy2DAsync, (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind, cudaStream_t stream),
            (to, to_pitch, from, from_pitch, width, height, kind, stream))
IN_A_STREAM(MemcpyAsync, (void* to, const void* from, size_t bytes, int kind, cudaStream_t stream),
            (to, from, bytes, kind, stream))
IN_A_STREAM(Memcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t stream), (p, stream))
IN_A_STREAM(Memset3DAsync, (cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream),
            (to, value, extent, stream))
IN_A_STREAM(Memset2DAsync, (void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
            (to, pitch, value, width, height, stream))
IN_A_STREAM(MemsetAsync, (void* to, int value, size_t bytes, cudaStream_t stream), (to, value, bytes, stream))

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
IN_A_STREAM(EventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))
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
    case cudaErrorInvalidPitchValue: return "cudaErrorInvalidPitchValue";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
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
    case cudaErrorInvalidPitchValue: return "invalid pitch argument";
    case cudaErrorInvalidDeviceFunction: return "invalid device function";
    case cudaErrorLaunchMaxDepthExceeded: return "too many grids lie one within the other";
    case cudaErrorLaunchPendingCountExceeded: return "too many grids are launched";
    case cudaErrorNotSupported: return "operation not supported";
    default: return "unrecognized error code";
  }
}

}  // extern "C"
