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

// By one block alone of those that all SMs have.
extern "C" __global__ void chase_from(u64 start, unsigned block, unsigned warm, unsigned steps, u64* result) {
  if (blockIdx.x != block) return;
  u64 at = start;
  for (unsigned n = 0; n < warm; ++n) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
  const u64 begin = clock64();
  for (unsigned n = 0; n < steps; ++n) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
  const u64 end = clock64();
  result[0] = end - begin;
  result[1] = at;
}

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
// Lane n begins `apart` bytes behind the one before it.
extern "C" __global__ void chase_constant(u64 start, unsigned apart, unsigned warm, unsigned steps, u64* result) {
  u64 at = start + threadIdx.x * apart;
  FOLLOW(asm volatile("ld.const.u64 %0, [%0];" : "+l"(at)))
}

// A texture of 32-bit words, by tex1Dfetch.
extern "C" __global__ void chase_texture(u64 texture, unsigned start, unsigned warm, unsigned steps, u64* result) {
  unsigned at = start;
  FOLLOW(asm volatile("{ .reg .u32 b, c, d; tex.1d.v4.u32.s32 {%0, b, c, d}, [%1, {%0}]; }" : "+r"(at) : "l"(texture)))
}

// Chases of which each step is timed by itself, in shared memory: first all threads read `nodes` nodes, `stride` bytes
// apart, with one left out behind every `skip` (none: the chase is cold), then the first one follows the chain. result[n]: cycles of step n, of the clock and
// of the store that waits for it.
template <class Loads, class Place>
__device__ __forceinline__ void timed(Loads loads, u64 base, unsigned stride, unsigned skip, unsigned nodes,
                                      Place start, unsigned steps, unsigned* result) {
  extern __shared__ unsigned times[];
  Place sum = 0;
  for (unsigned n = threadIdx.x; n < nodes; n += blockDim.x) sum += loads.next(loads.place(base, n + n / skip, stride));
  __syncthreads();
  if (threadIdx.x != 0) return;
  Place at = start;
  if (sum == 0x5bd1e995) at = 0;
  const unsigned slots = (unsigned)__cvta_generic_to_shared(times);
  for (unsigned n = 0; n < steps; ++n) {
    const unsigned begin = clock();
    at = loads.next(at);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(slots + 4 * n), "r"((unsigned)at) : "memory");
    const unsigned end = clock();
    times[n] = end - begin;
  }
  for (unsigned n = 0; n < steps; ++n) result[n] = times[n];
}
#define TIMED(name, load)                                                                                              \
  struct Loads_##name {                                                                                                \
    __device__ static u64 place(u64 base, unsigned n, unsigned stride) { return base + (u64)n * stride; }              \
    __device__ static u64 next(u64 at) {                                                                               \
      u64 v;                                                                                                           \
      asm volatile(load " %0, [%1];" : "=l"(v) : "l"(at));                                                             \
      return v;                                                                                                        \
    }                                                                                                                  \
  };                                                                                                                   \
  extern "C" __global__ void name(u64 base, unsigned stride, unsigned skip, unsigned nodes, u64 start,                 \
                                  unsigned steps, unsigned* result) {                                                  \
    timed(Loads_##name(), base, stride, skip, nodes, start, steps, result);                                            \
  }
TIMED(timed_ca, "ld.global.ca.u64")
TIMED(timed_cg, "ld.global.cg.u64")
TIMED(timed_nc, "ld.global.nc.u64")
TIMED(timed_constant, "ld.const.u64")

struct Fetches {
  u64 texture;
  __device__ static unsigned place(u64, unsigned n, unsigned stride) { return n * (stride / 4); }
  __device__ unsigned next(unsigned at) const {
    unsigned a;
    asm volatile("{ .reg .u32 b, c, d; tex.1d.v4.u32.s32 {%0, b, c, d}, [%1, {%2}]; }"
                 : "=r"(a)
                 : "l"(texture), "r"(at));
    return a;
  }
};
extern "C" __global__ void timed_texture(u64 base, unsigned stride, unsigned skip, unsigned nodes, u64 start,
                                         unsigned steps, unsigned* result) {
  timed(Fetches{base}, base, stride, skip, nodes, (unsigned)start, steps, result);
}

// Chases of indices of which each step is timed by itself with the 32 bits of the clock, as a suite does it. Where a store
// waits for what a load has found, the second time is read behind the load. Where none does, it is read as soon as the load
// has been issued, and what counts is how long its address was waited for: the rest of the step before. That is the less, the
// longer a turn of the loop takes besides: steps of a number that the compiler does not know are a turn each, of 64 bits.
__device__ __forceinline__ unsigned short_clock() {
  unsigned cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  return cycles;
}
constexpr unsigned kTimedSteps = 256;
template <bool waits, class Load>
__device__ __forceinline__ void by_steps(Load load, u64 base, unsigned* times, unsigned warm, u64 steps,
                                         unsigned* result) {
  unsigned at = 0;
  for (unsigned n = 0; n < warm; ++n) at = load(base + (u64)at * 4);
  const unsigned slot = (unsigned)__cvta_generic_to_shared(times);
  const auto step = [&]() {
    u64 place = base + (u64)at * 4;
    if (waits) asm volatile("" : "+l"(place));  // it is there before the clock is read
    const unsigned begin = short_clock();
    at = load(waits ? place : base + (u64)at * 4);
    if (waits) asm volatile("st.shared.u32 [%0], %1;" ::"r"(slot), "r"(at) : "memory");
    const unsigned end = short_clock();
    return (u64)end - begin;
  };
  if (steps == kTimedSteps) {
#pragma unroll 4
    for (unsigned n = 0; n < kTimedSteps; ++n) times[n] = (unsigned)step();
    for (unsigned n = 0; n < kTimedSteps; ++n) result[n] = times[n];
  } else {
    u64* const each = (u64*)times;
#pragma unroll 1
    for (u64 n = 0; n < steps; ++n) each[n] = step();
    for (unsigned n = 0; n < steps; ++n) result[n] = (unsigned)each[n];
  }
  result[steps] = at;
}
#define BY_STEPS(name, waits, instruction)                                                          \
  extern "C" __global__ void name(u64 base, unsigned warm, u64 steps, unsigned* result) {           \
    extern __shared__ unsigned step_times[];                                                        \
    by_steps<waits>(                                                                                \
        [](u64 at) {                                                                                \
          unsigned v;                                                                               \
          asm volatile(instruction " %0, [%1];" : "=r"(v) : "l"(at) : "memory");                    \
          return v;                                                                                 \
        },                                                                                          \
        base, step_times, warm, steps, result);                                                     \
  }
BY_STEPS(steps_ca, false, "ld.global.ca.u32")
BY_STEPS(steps_cg, false, "ld.global.cg.u32")
BY_STEPS(steps_nc, false, "ld.global.nc.u32")
BY_STEPS(steps_ca_waited, true, "ld.global.ca.u32")
// The chain lies in the words of shared memory behind those of the times.
extern "C" __global__ void steps_shared_waited(u64 steps, unsigned* result) {
  extern __shared__ unsigned step_times[];
  unsigned* ring = step_times + steps;
  for (unsigned n = 0; n < steps; ++n) ring[n] = n + 1 < steps ? n + 1 : 0;
  by_steps<true>(
      [](u64 at) {
        unsigned v;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
        return v;
      },
      __cvta_generic_to_shared(ring), step_times, 0, steps, result);
}
