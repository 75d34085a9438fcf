// Target: sm_75
// Buffers that are read again and again.
typedef unsigned long long u64;

// A double as the integer of its bits: what is measured are loads, and products have few units for f64.
__device__ __forceinline__ long long bits_at(const double* a) {
  long long v;
  asm volatile("ld.global.ca.b64 %0, [%1];" : "=l"(v) : "l"(a));
  return v;
}
// The same `Each` x 1024 doubles `rounds` times, several rounds in a piece of code.
template <int Each>
__device__ __forceinline__ long long read_rounds(const double* a, unsigned rounds) {
  long long sum = 0;
#pragma unroll(Each < 16 ? 16 / Each : 1)
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < Each; ++k) sum += bits_at(a + k * 1024);
  }
  return sum;
}
// Every block reads the same n doubles `rounds` times: blockDim.x is 1024.
extern "C" __global__ void read_same(const double* a, unsigned n, unsigned rounds, double* out) {
  const double* const own = a + threadIdx.x;
  long long sum = 0;
  double total = 0;
  switch (n / 1024) {
    case 1: sum = read_rounds<1>(own, rounds); break;
    case 2: sum = read_rounds<2>(own, rounds); break;
    case 4: sum = read_rounds<4>(own, rounds); break;
    default:
      for (unsigned r = 0; r < rounds; ++r)
#pragma unroll 8
        for (unsigned i = threadIdx.x; i < n; i += 1024) {
          double v;
          asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(v) : "l"(a + i));
          total += v;
        }
  }
  if (sum == 7 || total == 0.7) out[0] = 1;
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
// A buffer of n times 16 bytes, n a power of two, is read `rounds` times: in each, a thread reads four places as far
// from each other as there are threads, and so on until it is beyond the end.
#define READ_ROUND(name, load)                                                                        \
  extern "C" __global__ void name(const float4* a, unsigned n, unsigned rounds, float* out) {        \
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;   \
    float sum[4] = {};                                                                                \
    for (unsigned r = 0; r < rounds; ++r)                                                             \
      for (unsigned i = first; i < n; i += 4 * threads) {                                             \
        float4 v[4];                                                                                  \
        _Pragma("unroll") for (int u = 0; u < 4; ++u) asm volatile(                                   \
            load " {%0, %1, %2, %3}, [%4];"                                                           \
            : "=f"(v[u].x), "=f"(v[u].y), "=f"(v[u].z), "=f"(v[u].w)                                  \
            : "l"(a + ((i + u * threads) & (n - 1))));                                                \
        _Pragma("unroll") for (int u = 0; u < 4; ++u) sum[u] += v[u].x + v[u].w;                      \
      }                                                                                               \
    if (sum[0] + sum[1] + sum[2] + sum[3] == 0.7f) out[0] = sum[0];                                   \
  }
READ_ROUND(read_round_ca, "ld.global.ca.v4.f32")
READ_ROUND(read_round_cg, "ld.global.cg.v4.f32")
