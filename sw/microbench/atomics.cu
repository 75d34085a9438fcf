// Target: sm_75
// Atomic operations: chains through the returned value, and as many as there is room for.
typedef unsigned long long u64;

// Lanes in groups of `group` share a word; each chain adds what it got, which is 0.
extern "C" __global__ void atomic_shared_add(unsigned group, unsigned steps, u64* result) {
  __shared__ unsigned words[32];
  words[threadIdx.x % 32] = 0;
  __syncthreads();
  const unsigned word = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x / group]);
  unsigned v = 0;
  const u64 begin = clock64();
  for (unsigned n = 0; n < steps; n += 32) {
#pragma unroll
    for (int i = 0; i < 32; ++i) asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(v) : "r"(word));
  }
  const u64 end = clock64();
  if (threadIdx.x == 0) {
    result[0] = end - begin;
    result[1] = v;
  }
}
extern "C" __global__ void atomic_shared_cas(unsigned steps, u64* result) {
  __shared__ unsigned words[32];
  words[threadIdx.x % 32] = 0;
  __syncthreads();
  const unsigned word = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x]);
  unsigned v = 0;
  const u64 begin = clock64();
  for (unsigned n = 0; n < steps; n += 2) {
    asm volatile("atom.shared.cas.b32 %0, [%1], %0, %0;" : "+r"(v) : "r"(word));
    asm volatile("atom.shared.cas.b32 %0, [%1], %0, %0;" : "+r"(v) : "r"(word));
  }
  const u64 end = clock64();
  if (threadIdx.x == 0) {
    result[0] = end - begin;
    result[1] = v;
  }
}
// `contention` lanes of a warp share a word; words are 128 bytes apart.
extern "C" __global__ void atomic_global_add(unsigned* words, unsigned contention, unsigned steps, u64* result) {
  unsigned* const word = words + threadIdx.x / contention * 32;
  unsigned v = 0;
  const u64 begin = clock64();
  for (unsigned n = 0; n < steps; n += 2) {
    asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(v) : "l"(word));
    asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(v) : "l"(word));
  }
  const u64 end = clock64();
  if (threadIdx.x == 0) {
    result[0] = end - begin;
    result[1] = v;
  }
}
// Every thread adds to word (its number mod `words`), `rounds` times.
extern "C" __global__ void atomic_spread(unsigned* a, unsigned words, unsigned rounds) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % words;
  for (unsigned n = 0; n < rounds; ++n) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(a + i));
}
// `reductions` additions that return nothing, and one that does, each trip: the next one begins with what it got. The
// first `contention` lanes share a word, the others have one each; words are 128 bytes apart.
extern "C" __global__ void atomic_global_trips(unsigned* words, unsigned contention, unsigned reductions,
                                               unsigned trips, u64* result) {
  unsigned* const word = words + (threadIdx.x < contention ? 0 : 32 + threadIdx.x) * 32;
  unsigned v = threadIdx.x + 1;
  const u64 begin = clock64();
  for (unsigned n = 0; n < trips; ++n) {
    for (unsigned i = 0; i < reductions; i += 8) {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(v));
    }
    asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(v) : "l"(word));
  }
  const u64 end = clock64();
  if (threadIdx.x == 0) {
    result[0] = end - begin;
    result[1] = v;
  }
}
// As atomic_shared_add, but that each addition waits for nothing.
extern "C" __global__ void atomic_shared_next(unsigned group, unsigned steps, u64* result) {
  __shared__ unsigned words[32];
  words[threadIdx.x % 32] = 0;
  __syncthreads();
  const unsigned word = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x / group]);
  const u64 begin = clock64();
  for (unsigned n = 0; n < steps; n += 32) {
#pragma unroll
    for (int i = 0; i < 32; ++i) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(word));
  }
  const u64 end = clock64();
  if (threadIdx.x == 0) result[0] = end - begin;
}
// Every thread adds to a word of its own in shared memory, and waits for nothing.
extern "C" __global__ void atomic_shared_rate(unsigned rounds, u64* result) {
  __shared__ unsigned words[1024];
  words[threadIdx.x] = 1;
  __syncthreads();
  const unsigned word = (unsigned)__cvta_generic_to_shared(&words[threadIdx.x]);
  const u64 begin = clock64();
  for (unsigned n = 0; n < rounds; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(word));
  }
  __syncthreads();
  const u64 end = clock64();
  if (threadIdx.x == 0) result[0] = end - begin;
}
// Every thread adds to one word, `rounds` times, as the compiler has it of `atomicAdd(a, 1)`: one lane of each warp adds
// for all.
extern "C" __global__ void atomic_one(unsigned* a, unsigned rounds) {
  for (unsigned n = 0; n < rounds; ++n)
    if (threadIdx.x % 32 == 0) asm volatile("red.global.add.u32 [%0], 32;" ::"l"(a));
}
