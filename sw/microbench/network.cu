// Target: sm_75
// The network between SMs and L2 slices: latency of lines from a chosen SM, bandwidth of chosen SMs. A grid has a
// block for each SM; which SM a block is on it asks %smid, and those not chosen end at once.
typedef unsigned long long u64;

static __device__ unsigned this_sm() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// Line n is the one at base + offsets[n], and its first word holds its own address. cycles[n]: of four loads in a
// chain, once it is in L2: the better of two times.
extern "C" __global__ void network_latency(u64 base, const unsigned* offsets, unsigned lines, unsigned sm,
                                           unsigned* cycles) {
  if (this_sm() != sm || threadIdx.x != 0) return;
#pragma unroll 1
  for (unsigned step = 0; step < 2 * lines; ++step) {
    const unsigned n = step < lines ? step : step - lines;
    u64 at = base + offsets[n];
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    const u64 begin = clock64();
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    const u64 end = clock64();
    const unsigned took = (unsigned)(end - begin) + (at == 1);
    if (step < lines || took < cycles[n]) cycles[n] = took;
  }
}

// Blocks of the SMs with on[sm] != 0 go `rounds` times through a buffer of `units` times 16 bytes, a power of two,
// each from a place of its own. cycles[sm]: from the block's first access to its last.
#define THROUGH(access)                                                              \
  const unsigned sm = this_sm();                                                     \
  if (on[sm] == 0) return;                                                           \
  unsigned at = (sm * 4096 + threadIdx.x) & (units - 1);                             \
  __syncthreads();                                                                   \
  const u64 begin = clock64();                                                       \
  _Pragma("unroll 1") for (unsigned round = 0; round < rounds; ++round) {                                \
    access(0); access(1); access(2); access(3);                                      \
    at = (at + 4 * blockDim.x) & (units - 1);                                        \
  }                                                                                  \
  __syncthreads();                                                                   \
  const u64 end = clock64();                                                         \
  if (threadIdx.x == 0) cycles[sm] = end - begin;

#define READ(n)                                                                                    \
  {                                                                                                \
    float x, y, z, w;                                                                              \
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"                                     \
                 : "=f"(x), "=f"(y), "=f"(z), "=f"(w)                                              \
                 : "l"(a + ((at + n * blockDim.x) & (units - 1))));                                \
    sum += x + y + z + w;                                                                          \
  }
extern "C" __global__ void network_read(const float4* a, unsigned units, const unsigned char* on, unsigned rounds,
                                        u64* cycles, float* out) {
  float sum = 0;
  THROUGH(READ)
  if (sum == 0.7f) out[0] = sum;
}
#define WRITE(n) a[(at + n * blockDim.x) & (units - 1)] = make_float4(1, 2, 3, 4);
extern "C" __global__ void network_write(float4* a, unsigned units, const unsigned char* on, unsigned rounds,
                                         u64* cycles) {
  THROUGH(WRITE)
}

// As network_read, but of whole lines, a warp each: line n is the one at base + offsets[n], of a power of two of
// them.
extern "C" __global__ void network_read_lines(const char* base, const unsigned* offsets, unsigned lines,
                                              const unsigned char* on, unsigned rounds, u64* cycles, unsigned* out) {
  const unsigned sm = this_sm();
  if (on[sm] == 0) return;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const unsigned mine = offsets[warp & (lines - 1)];
  const char* at = base + mine + 4 * lane;
  unsigned sum = 0;
  __syncthreads();
  const u64 begin = clock64();
  _Pragma("unroll 1") for (unsigned round = 0; round < rounds; ++round) {
    unsigned a, b, c, d;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(at));
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(b) : "l"(at + 128));
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(c) : "l"(at + 256));
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(d) : "l"(at + 384));
    sum += a + b + c + d;
  }
  __syncthreads();
  const u64 end = clock64();
  if (threadIdx.x == 0) cycles[sm] = end - begin;
  if (sum == 77) out[0] = sum + warps;
}
