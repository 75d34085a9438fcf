// Target: sm_75
// Bandwidth of shared memory and of L1, and the L2 latency of one SM by address.
typedef unsigned long long u64;

#define SHARED(name, type, load, letter)                                                         \
  extern "C" __global__ void name(unsigned rounds, u64* result) {                                 \
    extern __shared__ char bytes[];                                                               \
    const unsigned from = (unsigned)__cvta_generic_to_shared(bytes) + threadIdx.x * sizeof(type); \
    type sum = 0;                                                                                 \
    __syncthreads();                                                                              \
    const u64 begin = clock64();                                                                  \
    for (unsigned r = 0; r < rounds; ++r) {                                                       \
      type v[8];                                                                                  \
      for (int i = 0; i < 8; ++i) asm volatile(load " %0, [%1];" : "=" letter(v[i]) : "r"(from)); \
      for (int i = 0; i < 8; ++i) sum += v[i];                                                    \
    }                                                                                             \
    __syncthreads();                                                                              \
    const u64 end = clock64();                                                                    \
    if (threadIdx.x == 0) result[0] = end - begin;                                                \
    if (sum == (type)0.7) result[1] = 1;                                                          \
  }
SHARED(shared_float, float, "ld.shared.f32", "f")
SHARED(shared_double, double, "ld.shared.f64", "d")

#define CACHED(name, type, load, letter)                                                      \
  extern "C" __global__ void name(const type* a, unsigned rounds, u64* result) {               \
    const type* const from = a + threadIdx.x;                                                  \
    type sum = 0;                                                                              \
    __syncthreads();                                                                           \
    u64 begin = 0;                                                                             \
    for (unsigned r = 0; r <= rounds; ++r) {                                                   \
      if (r == 1) begin = clock64();                                                           \
      type v[8];                                                                               \
      for (int i = 0; i < 8; ++i)                                                              \
        asm volatile(load " %0, [%1];" : "=" letter(v[i]) : "l"(from + i * blockDim.x));       \
      for (int i = 0; i < 8; ++i) sum += v[i];                                                 \
    }                                                                                          \
    __syncthreads();                                                                           \
    const u64 end = clock64();                                                                 \
    if (threadIdx.x == 0) result[0] = end - begin;                                             \
    if (sum == (type)0.7) result[1] = 1;                                                       \
  }
CACHED(cached_float, float, "ld.global.ca.f32", "f")
CACHED(cached_double, double, "ld.global.ca.f64", "d")
