// Sums of floats: each thread adds its share in order, each warp folds its lanes with shuffles, each block folds its
// warps through shared memory. partial[b] is the sum of block b; a second launch over the partial sums gives the total.
constexpr unsigned kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;

__device__ float fold_warp(float v) {
  for (unsigned distance = kWarp / 2; distance != 0; distance /= 2) v += __shfl_down_sync(kAll, v, distance);
  return v;
}

// blockDim.x is a multiple of 32.
extern "C" __global__ void reduce(const float* __restrict__ in, unsigned n, float* __restrict__ partial) {
  __shared__ float warp_sums[kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  float v = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  v = fold_warp(v);
  if (lane == 0) warp_sums[warp] = v;
  __syncthreads();
  if (warp != 0) return;
  v = fold_warp(lane < warps ? warp_sums[lane] : 0.0f);
  if (lane == 0) partial[blockIdx.x] = v;
}
