// A kernel that prints: each block counts its numbers above a limit, and its first thread says how many these are.
#include <cassert>
#include <cstdio>

// n is a multiple of the block's size.
extern "C" __global__ void report(const unsigned* in, unsigned n, unsigned limit, unsigned* above) {
  assert(n % blockDim.x == 0);
  const unsigned count = __syncthreads_count(in[blockIdx.x * blockDim.x + threadIdx.x] > limit);
  if (threadIdx.x != 0) return;
  above[blockIdx.x] = count;
  printf("block %2u: %3u of %u are above %u (%5.1f%%)\n", blockIdx.x, count, blockDim.x, limit, 100.0 * count / blockDim.x);
}
