// Target: sm_75
// Buffers that are read again and again.
typedef unsigned long long u64;

// `Loads` x 256 doubles, as the integers of their bits: what is measured are loads, and products have few units for f64.
template <int Loads>
__device__ __forceinline__ long long read_part(const double* a) {
  unsigned zero;  // the compiler does not know it to be: what is read anew is loaded anew
  asm volatile("mov.u32 %0, 0;" : "=r"(zero));
  const long long* const from = reinterpret_cast<const long long*>(a) + zero;
  long long sum = 0;
#pragma unroll
  for (int k = 0; k < Loads; ++k) sum += from[k * 256];
  return sum;
}
// The same `Loads` x 256 doubles `rounds` times, 32 loads or so in a piece of code.
template <int Loads>
__device__ __forceinline__ long long read_rounds(const double* a, unsigned rounds) {
  long long sum = 0;
#pragma unroll(32 / Loads)
  for (unsigned r = 0; r < rounds; ++r) sum += read_part<Loads>(a);
  return sum;
}
// Every block reads the same n doubles, a multiple of 1024, `rounds` times: blockDim.x is 256.
extern "C" __global__ void read_same(const double* a, unsigned n, unsigned rounds, double* out) {
  const double* const own = a + threadIdx.x;
  long long sum = 0;
  switch (n / 1024) {
    case 1: sum = read_rounds<4>(own, rounds); break;
    case 2: sum = read_rounds<8>(own, rounds); break;
    case 4: sum = read_rounds<16>(own, rounds); break;
    default:
      for (unsigned r = 0; r < rounds; ++r) {
        unsigned i = 0;
#pragma unroll 1
        for (; i + 32 * 256 <= n; i += 32 * 256) {
#pragma unroll
          for (int k = 0; k < 32; k += 8) sum += read_part<8>(own + i + k * 256);
        }
        if ((n & 16 * 256) != 0) sum += read_part<16>(own + i), i += 16 * 256;
        if ((n & 8 * 256) != 0) sum += read_part<8>(own + i), i += 8 * 256;
        if ((n & 4 * 256) != 0) sum += read_part<4>(own + i);
      }
  }
  if (sum == 7) out[0] = 1;
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
// Lane n of 64 reads words around n * stride, eight for `zero` after eight, as often as `rounds` says.
#define STRIDED(name, type)                                                                         \
  extern "C" __global__ void name(const type* a, unsigned stride, unsigned zero, unsigned rounds, u64* result) { \
    type sum = 0;                                                                                   \
    const type* at = a + threadIdx.x % 64 * stride;                                                 \
    const u64 begin = clock64();                                                                    \
    _Pragma("unroll 1") for (unsigned r = 0; r < rounds; ++r) {                                     \
      at += zero;                                                                                   \
      type v[8];                                                                                    \
      _Pragma("unroll") for (int i = 0; i < 8; ++i) v[i] = at[i * 4];                               \
      _Pragma("unroll") for (int i = 0; i < 8; i += 2) sum += v[i] * v[i + 1];                      \
    }                                                                                               \
    __syncthreads();                                                                                \
    const u64 end = clock64();                                                                      \
    if (threadIdx.x == 0) result[0] = end - begin;                                                  \
    if (sum == (type)0.7) result[1] = 1;                                                            \
  }
STRIDED(strided_float, float)
STRIDED(strided_double, double)
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
