// Target: sm_75
// Barriers of a block, and of a grid.
typedef unsigned long long u64;

extern "C" __global__ void barrier_block(unsigned steps, u64* result) {
  __syncthreads();
  const u64 begin = clock64();
  for (unsigned n = 0; n < steps; n += 4) {
    asm volatile("bar.sync 0;");
    asm volatile("bar.sync 0;");
    asm volatile("bar.sync 0;");
    asm volatile("bar.sync 0;");
  }
  const u64 end = clock64();
  if (blockIdx.x == 0 && threadIdx.x == 0) result[0] = end - begin;
}
// Each between two readings of the clock.
extern "C" __global__ void barrier_block_direct(unsigned steps, u64* result) {
  u64 sum = 0;
  __syncthreads();
  for (unsigned n = 0; n < steps; ++n) {
    const u64 begin = clock64();
    asm volatile("bar.sync 0;");
    sum += clock64() - begin;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) result[0] = sum;
}
// As cooperative groups do it: the last block to arrive turns the highest bit of a counter.
__device__ __forceinline__ void grid_sync(unsigned* counter) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    __threadfence();
    const unsigned old = atomicAdd(counter, own);
    while (((old ^ *(volatile unsigned*)counter) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
extern "C" __global__ void barrier_grid_direct(unsigned* counter, unsigned steps, u64* result) {
  u64 sum = 0;
  grid_sync(counter);
  for (unsigned n = 0; n < steps; ++n) {
    const u64 begin = clock64();
    grid_sync(counter);
    sum += clock64() - begin;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) result[0] = sum;
}
extern "C" __global__ void barrier_grid(unsigned* counter, unsigned steps, u64* result) {
  u64 begin = 0;
  for (unsigned n = 0; n <= steps; ++n) {
    grid_sync(counter);
    if (n == 0) begin = clock64();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) result[0] = clock64() - begin;
}
