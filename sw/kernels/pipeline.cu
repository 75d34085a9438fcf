// Tiles that arrive in shared memory while the ones before them are worked on, copied asynchronously in three ways:
// 16 bytes per thread past L1, 4 and 8 bytes through it, and with sources that end before the tile does.
#include <cuda_pipeline.h>

constexpr unsigned kThreads = 128;
constexpr unsigned kStages = 3;

// out[i] = 2 * in[i] + in of the other half of the tile; `count` is a multiple of a tile's 512 words.
extern "C" __global__ void pipeline_wide(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned count) {
  __shared__ alignas(16) unsigned tile[kStages][kThreads * 4];
  const unsigned tiles = count / (kThreads * 4), step = gridDim.x;
  const auto fetch = [&](unsigned t, unsigned stage) {
    if (t < tiles) {
      const unsigned at = threadIdx.x * 4;
      asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(&tile[stage][at]))),
                   "l"(in + t * kThreads * 4 + at));
    }
    asm volatile("cp.async.commit_group;");
  };
  for (unsigned s = 0; s < kStages - 1; ++s) fetch(blockIdx.x + s * step, s);
  for (unsigned t = blockIdx.x, stage = 0; t < tiles; t += step, stage = (stage + 1) % kStages) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    fetch(t + (kStages - 1) * step, (stage + kStages - 1) % kStages);
    for (unsigned i = threadIdx.x; i < kThreads * 4; i += kThreads)
      out[t * kThreads * 4 + i] = 2 * tile[stage][i] + tile[stage][i ^ (kThreads * 2)];
  }
}

// The same with the intrinsics, which copy 4 and 8 bytes: out[i] = fma(a[i], b[2i], b[2i+1]).
extern "C" __global__ void pipeline_narrow(const float* __restrict__ a, const float2* __restrict__ b,
                                           float* __restrict__ out, unsigned count) {
  __shared__ float left[2][kThreads];
  __shared__ float2 right[2][kThreads];
  const unsigned tiles = count / kThreads;
  const auto fetch = [&](unsigned t) {
    if (t < tiles) {
      const unsigned at = t * kThreads + threadIdx.x;
      __pipeline_memcpy_async(&left[t % 2][threadIdx.x], a + at, sizeof(float));
      __pipeline_memcpy_async(&right[t % 2][threadIdx.x], b + at, sizeof(float2));
    }
    __pipeline_commit();
  };
  fetch(0);
  for (unsigned t = 0; t < tiles; ++t) {
    fetch(t + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    const unsigned other = threadIdx.x ^ 1;  // a neighbour's copy: the barrier makes it visible
    const float l = left[t % 2][other];
    const float2 r = right[t % 2][other];
    out[t * kThreads + other] = l * r.x + r.y;
    __syncthreads();
  }
}

// The last tile is cut off by `count`: what lies beyond is zero in the tile and never read. out[i] is the sum of
// the 16 bytes from byte 16i on.
extern "C" __global__ void pipeline_ragged(const unsigned char* __restrict__ in, unsigned* __restrict__ out,
                                           unsigned count) {
  __shared__ alignas(16) unsigned char tile[kThreads * 16];
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * 16;
  const unsigned left = at < count ? min(count - at, 16u) : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x * 16))),
               "l"(in + at), "r"(left));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  unsigned sum = 0;
  for (unsigned b = 0; b < 16; ++b) sum += tile[threadIdx.x * 16 + b];
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}
