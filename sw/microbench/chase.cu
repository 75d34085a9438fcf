// Target: sm_75
// Loads that depend on each other: a chain of addresses, of indices or of offsets through each kind of memory.
// Every thread follows the same chain: `warm` steps first, then `steps` steps, a multiple of 8, by the clock.
// result[0]: cycles of the first thread of the first block; result[1]: where it has come to, so that no step can
// be left out.
typedef unsigned long long u64;

#define FOLLOW(step)                                 \
  for (unsigned n = 0; n < warm; ++n) step;          \
  const u64 begin = clock64();                       \
  for (unsigned n = 0; n < steps; n += 8) {          \
    step; step; step; step; step; step; step; step;  \
  }                                                  \
  const u64 end = clock64();                         \
  if (blockIdx.x == 0 && threadIdx.x == 0) {         \
    result[0] = end - begin;                         \
    result[1] = at;                                  \
  }

#define CHASE(name, load)                                                                  \
  extern "C" __global__ void name(u64 start, unsigned warm, unsigned steps, u64* result) { \
    u64 at = start;                                                                        \
    FOLLOW(asm volatile(load " %0, [%0];" : "+l"(at)))                                     \
  }

CHASE(chase_ca, "ld.global.ca.u64")
CHASE(chase_cg, "ld.global.cg.u64")
CHASE(chase_cv, "ld.global.cv.u64")
CHASE(chase_nc, "ld.global.nc.u64")

// Each step computes an address from the index that it has loaded.
extern "C" __global__ void chase_index(const unsigned* a, unsigned start, unsigned warm, unsigned steps, u64* result) {
  unsigned at = start;
  FOLLOW(asm volatile("{ .reg .u64 p; mad.wide.u32 p, %0, 4, %1; ld.global.ca.u32 %0, [p]; }" : "+r"(at) : "l"(a)))
}

// Shared memory: the chain is laid first. Thread t of a warp has a ring of its own, `stride` bytes from word to word
// of it and `apart` bytes from those of the thread before: `apart` 0, and all read one word.
extern "C" __global__ void chase_shared(unsigned bytes, unsigned stride, unsigned apart, unsigned warm, unsigned steps,
                                        u64* result) {
  extern __shared__ unsigned ring[];
  const unsigned first = threadIdx.x * apart;
  for (unsigned at = first; at + 4 <= bytes; at += stride) {
    const unsigned next = at + stride + 4 <= bytes ? at + stride : first;
    ring[at / 4] = next;
  }
  __syncthreads();
  unsigned at = first;
  const unsigned base = (unsigned)__cvta_generic_to_shared(ring);
  at += base;
  for (unsigned n = first; n + 4 <= bytes && apart != 0; n += stride) ring[n / 4] += base;
  if (apart == 0 && threadIdx.x == 0)
    for (unsigned n = 0; n + 4 <= bytes; n += stride) ring[n / 4] += base;
  __syncthreads();
  FOLLOW(asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)))
}

// Constant memory, of which the host lays the chain: addresses in its own space, once it knows where that begins.
__constant__ u64 chain[8192];
extern "C" __global__ void constant_base(u64* result) {
  asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(result[0]) : "l"((const char*)chain));
}
extern "C" __global__ void chase_constant(u64 start, unsigned warm, unsigned steps, u64* result) {
  u64 at = start;
  FOLLOW(asm volatile("ld.const.u64 %0, [%0];" : "+l"(at)))
}

// A texture of 32-bit words, by tex1Dfetch.
extern "C" __global__ void chase_texture(u64 texture, unsigned start, unsigned warm, unsigned steps, u64* result) {
  unsigned at = start;
  FOLLOW(asm volatile("{ .reg .u32 b, c, d; tex.1d.v4.u32.s32 {%0, b, c, d}, [%1, {%0}]; }" : "+r"(at) : "l"(texture)))
}
