// Target: sm_75
// Bandwidth of shared memory and of L1: every thread reads eight elements of its own, again and again.
typedef unsigned long long u64;

// Of four floats two are used, the first and the last. Of shared memory they are read as two pairs, of global memory
// as these two, as ptxas makes it of them.
struct Shared {
  unsigned at;
  __device__ void load(float& v) const { asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at)); }
  __device__ void load(double& v) const { asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(at)); }
  __device__ void load(float4& v) const {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(at));
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2 + 8];" : "=f"(v.z), "=f"(v.w) : "r"(at));
  }
  __device__ Shared behind(unsigned) const { return *this; }
};
struct Cached {
  const char* at;
  __device__ void load(float& v) const { asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(at)); }
  __device__ void load(double& v) const { asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(v) : "l"(at)); }
  __device__ void load(float4& v) const {
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v.x) : "l"(at));
    asm volatile("ld.global.ca.f32 %0, [%1 + 12];" : "=f"(v.w) : "l"(at));
  }
  __device__ Cached behind(unsigned bytes) const { return {at + bytes}; }
};
__device__ __forceinline__ float part(float v) { return v; }
// Products have two units for f64 an SM, which are not what is measured.
__device__ __forceinline__ long long part(double v) { return __double_as_longlong(v); }
__device__ __forceinline__ float part(float4 v) { return v.x + v.w; }

// Eight elements of each thread's, added up.
template <class Element, class Space>
__device__ __forceinline__ auto read_round(Space from) {
  Element v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) from.behind(i * blockDim.x * sizeof(Element)).load(v[i]);
  auto sum = part(v[0]);
#pragma unroll
  for (int i = 1; i < 8; ++i) sum += part(v[i]);
  return sum;
}
// The first round does not count.
template <class Element, class Space>
__device__ __forceinline__ void read(Space from, unsigned rounds, u64* result) {
  auto sum = read_round<Element>(from);
  __syncthreads();
  const u64 begin = clock64();
#pragma unroll 4
  for (unsigned r = 0; r < rounds; ++r) sum += read_round<Element>(from);
  __syncthreads();
  const u64 end = clock64();
  if (threadIdx.x == 0) result[0] = end - begin;
  if (sum == (decltype(sum))7) result[1] = 1;
}

#define READ(type)                                                                                    \
  extern "C" __global__ void shared_##type(unsigned rounds, u64* result) {                            \
    extern __shared__ char bytes[];                                                                   \
    const unsigned at = (unsigned)__cvta_generic_to_shared(bytes) + threadIdx.x * sizeof(type);       \
    read<type>(Shared{at}, rounds, result);                                                           \
  }                                                                                                   \
  extern "C" __global__ void cached_##type(const char* a, unsigned rounds, u64* result) {             \
    read<type>(Cached{a + threadIdx.x * sizeof(type)}, rounds, result);                               \
  }
READ(float)
READ(double)
READ(float4)
