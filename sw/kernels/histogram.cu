// How often each byte value occurs. Every block counts in shared memory first and adds its counts to the result
// once; the second kernel sends each byte's increment to L2, where equal values contend.
constexpr unsigned kBins = 256;

extern "C" __global__ void histogram_private(const unsigned char* __restrict__ data, unsigned n, unsigned* bins) {
  __shared__ unsigned counts[kBins];
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) atomicAdd(&counts[data[i]], 1u);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x)
    if (counts[b] != 0) atomicAdd(&bins[b], counts[b]);
}

extern "C" __global__ void histogram_global(const unsigned char* __restrict__ data, unsigned n, unsigned* bins) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) atomicAdd(&bins[data[i]], 1u);
}
