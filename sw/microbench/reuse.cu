// Target: sm_75
// Buffers that are read again and again.
typedef unsigned long long u64;

// Every block reads the same n doubles `rounds` times: blockDim.x is 1024.
extern "C" __global__ void read_same(const double* a, unsigned n, unsigned rounds, double* out) {
  double sum = 0;
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < n; i += 1024) {
      double v;
      asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(v) : "l"(a + i));
      sum += v;
    }
  }
  if (sum == 0.7) out[0] = sum;
}
// The same once, of a multiple of 8 x 1024, which a thread loads eight at a time before it waits for the first.
extern "C" __global__ void read_same_by_eight(const double* a, unsigned n, double* out) {
  double sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += 8 * 1024) {
    double v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k)
      asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(v[k]) : "l"(a + i + k * 1024));
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k];
  }
  if (sum == 0.7) out[0] = sum;
}
// Block b reads window b mod `windows` of 64 x 1024 doubles.
extern "C" __global__ void read_windows(const double* a, unsigned windows, double* out) {
  const double* const from = a + (u64)(blockIdx.x % windows) * (64 * 1024) + threadIdx.x;
  double sum = 0;
#pragma unroll 16
  for (unsigned i = 0; i < 64; ++i) {
    double v;
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(v) : "l"(from + i * 1024));
    sum += v;
  }
  if (sum == 0.7) out[0] = sum;
}
#define STRIDED(name, type, load, letter)                                                           \
  extern "C" __global__ void name(const type* a, unsigned stride, unsigned n, unsigned rounds, u64* result) { \
    type sum = 0;                                                                                   \
    const u64 begin = clock64();                                                                    \
    for (unsigned r = 0; r < rounds; ++r) {                                                         \
      unsigned at = threadIdx.x * stride % n;                                                       \
      for (unsigned i = 0; i < 16; ++i) {                                                           \
        type v;                                                                                     \
        asm volatile(load " %0, [%1];" : "=" letter(v) : "l"(a + at));                              \
        sum += v;                                                                                   \
        at += stride == 1 ? blockDim.x : 1;                                                         \
        if (at >= n) at -= n;                                                                       \
      }                                                                                             \
    }                                                                                               \
    __syncthreads();                                                                                \
    const u64 end = clock64();                                                                      \
    if (threadIdx.x == 0) result[0] = end - begin;                                                  \
    if (sum == (type)0.7) result[1] = 1;                                                            \
  }
STRIDED(strided_float, float, "ld.global.ca.f32", "f")
STRIDED(strided_double, double, "ld.global.ca.f64", "d")
