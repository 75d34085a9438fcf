// Target: sm_90
// What compute capability 9.0 has beyond: clusters, whose blocks read each other's shared memory, and bulk copies.
typedef unsigned long long u64;

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned of_rank(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The block of rank `reader` follows a chain in the shared memory of that of rank `owner`.
__device__ __forceinline__ void chase_in_cluster(unsigned reader, unsigned owner, unsigned steps, u64* result) {
  __shared__ unsigned ring[1024];
  const unsigned base = (unsigned)__cvta_generic_to_shared(ring), own = cluster_rank();
  for (unsigned n = threadIdx.x; n < 32; n += blockDim.x) ring[n * 32] = of_rank(base + (n + 1) % 32 * 128, own);
  cluster_sync();
  if (own == reader && threadIdx.x == 0) {
    unsigned at = of_rank(base, owner);
    u64 begin = 0;
    for (unsigned n = 0; n < steps + 8; n += 8) {
      if (n == 8) begin = clock64();
#pragma unroll
      for (int i = 0; i < 8; ++i) asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at));
    }
    const u64 end = clock64();
    result[0] = end - begin;
    result[1] = at;
  }
  cluster_sync();
}
// Every block reads the shared memory of the next one of its cluster; result[n]: cycles of block n.
__device__ __forceinline__ void read_in_cluster(unsigned blocks, unsigned rounds, u64* result) {
  __shared__ float words[8192];
  for (unsigned n = threadIdx.x; n < 8192; n += blockDim.x) words[n] = 1;
  const unsigned from =
      of_rank((unsigned)__cvta_generic_to_shared(words + threadIdx.x), (cluster_rank() + 1) % blocks);
  float sum = 0;
  cluster_sync();
  const u64 begin = clock64();
  for (unsigned r = 0; r < rounds; ++r) {
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) asm volatile("ld.volatile.shared::cluster.f32 %0, [%1];" : "=f"(v[i]) : "r"(from + i * 4096));
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += v[i];
  }
  __syncthreads();
  const u64 end = clock64();
  cluster_sync();
  if (threadIdx.x == 0) result[blockIdx.x] = end - begin;
  if (sum == 0.7f) result[0] = 0;
}
#define CLUSTER(blocks)                                                                                           \
  extern "C" __global__ void __cluster_dims__(blocks, 1, 1)                                                       \
      chase_cluster_##blocks(unsigned reader, unsigned owner, unsigned steps, u64* result) {                      \
    chase_in_cluster(reader, owner, steps, result);                                                               \
  }                                                                                                               \
  extern "C" __global__ void __cluster_dims__(blocks, 1, 1) read_cluster_##blocks(unsigned rounds, u64* result) {  \
    read_in_cluster(blocks, rounds, result);                                                                      \
  }
CLUSTER(2)
CLUSTER(4)

// A chain of addresses in global memory, of which each step is a bulk copy of 16 bytes to shared memory.
extern "C" __global__ void chase_bulk(u64 start, unsigned warm, unsigned steps, u64* result) {
  __shared__ alignas(128) u64 slot[2];
  __shared__ u64 barrier;
  if (threadIdx.x != 0) return;
  const unsigned to = (unsigned)__cvta_generic_to_shared(slot), done = (unsigned)__cvta_generic_to_shared(&barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(done) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  u64 at = start, begin = 0;
  for (unsigned n = 0; n < warm + steps; ++n) {
    if (n == warm) begin = clock64();
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(done) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(to),
                 "l"(at), "r"(done)
                 : "memory");
    asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(done),
        "r"(n & 1)
        : "memory");
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(at) : "r"(to) : "memory");
  }
  const u64 end = clock64();
  result[0] = end - begin;
  result[1] = at;
}
