// What CUDA C++ becomes in PTX: compiled with
//   nvcc -ptx -arch=sm_NN language.cu -o language.sm_NN.ptx
// for sm_80 and sm_120. language_test.cpp runs every kernel and knows its results.

#include <cuda_fp16.h>

__constant__ int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int table[5] = {50, 40, 30, 20, 10};
__device__ int* into_table[2] = {table, table + 2};
struct Mixed {
  char tag;
  int* where;
  short small;
};
__device__ Mixed mixed = {3, table + 1, -7};
__device__ const char message[] = "hello";
extern __shared__ int dynamic_shared[];

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(unsigned* out) { out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 4); }

// Recursion with an array on the stack.
__device__ __noinline__ int spread(int depth, int seed) {
  int trail[4];
  for (int i = 0; i < 4; ++i) trail[i] = seed + i * depth;
  if (depth == 0) return trail[seed & 3];
  int below = spread(depth - 1, seed + 1);
  return below + trail[(below + depth) & 3];
}
extern "C" __global__ void stack_frames(int* out) { out[threadIdx.x] = spread(threadIdx.x % 6, threadIdx.x); }

struct Four {
  float x, y, z, w;
};
__device__ __noinline__ Four scale(Four a, float by) { return {a.x * by, a.y * by, a.z * by, a.w * by}; }
extern "C" __global__ void by_value(Four* data, Four add) {
  Four s = scale(data[threadIdx.x], 2.f);
  data[threadIdx.x] = {s.x + add.x, s.y + add.y, s.z + add.z, s.w + add.w};
}

typedef int (*Function)(int);
__device__ __noinline__ int increment(int a) { return a + 1; }
__device__ __noinline__ int twice(int a) { return a * 2; }
__device__ Function functions[2] = {increment, twice};
extern "C" __global__ void pointers_to_functions(const int* pick, int* out) {
  out[threadIdx.x] = functions[pick[threadIdx.x] & 1](threadIdx.x);
}

extern "C" __global__ void variables(int* out, int n) {
  out[threadIdx.x] = weights[threadIdx.x & 7] + table[n] * 1000 + *into_table[1] * 100000 + mixed.small + *mixed.where + message[n] + mixed.tag;
}

extern "C" __global__ void switches(const int* in, int* out, int n) {
  int v = in[threadIdx.x];
  switch (v) {
    case 0: n += 3; break;
    case 1: n *= 5; break;
    case 2: n ^= in[7]; break;
    case 3: n -= 9; break;
    case 4: n = n / in[1]; break;
    case 5: n = n % 7; break;
    case 6: n >>= 3; break;
    default: n = in[n & 31];
  }
  out[threadIdx.x] = n;
}

// Every lane takes the lock in turn: lanes that spin must let the holder go on.
extern "C" __global__ void spin_lock(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int*)count = *(volatile int*)count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// Lane n waits until lane n - 1 has spoken.
extern "C" __global__ void chain(volatile int* flags) {
  int lane = threadIdx.x;
  if (lane > 0)
    while (flags[lane - 1] == 0) {}
  flags[lane] = flags[lane > 0 ? lane - 1 : 0] + 1;
}

extern "C" __global__ void block_votes(const int* in, int* out, int n) {
  int v = in[threadIdx.x];
  int count = __syncthreads_count(v > n);
  int all = __syncthreads_and(v);
  int any = __syncthreads_or(v == n);
  out[threadIdx.x] = count * 100 + (all ? 10 : 0) + (any ? 1 : 0);
}

extern "C" __global__ void warp_votes(const int* in, unsigned* out) {
  int v = in[threadIdx.x];
  unsigned* o = out + threadIdx.x * 8;
  o[0] = __ballot_sync(~0u, v & 1);
  o[1] = __match_any_sync(~0u, v & 3);
  int same;
  o[2] = __match_all_sync(~0u, v >> 30, &same);
  o[3] = same;
  o[4] = __any_sync(~0u, v == 5) * 2 + __all_sync(~0u, v < 1000);
  o[5] = __shfl_up_sync(~0u, v, 3, 8) + __shfl_sync(~0u, v, 2, 4);
  o[6] = __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v);
  o[7] = (threadIdx.x & 4) ? __activemask() : ~__activemask();
}

// Tiles of 8 lanes shuffle in separate branches.
extern "C" __global__ void tiles(int* data) {
  int lane = threadIdx.x & 31, v = data[threadIdx.x];
  unsigned mask = 0xFFu << (lane & 24);
  if ((lane >> 3) & 1)
    for (int o = 4; o; o >>= 1) v += __shfl_xor_sync(mask, v, o, 8);
  else
    for (int o = 4; o; o >>= 1) v = max(v, __shfl_xor_sync(mask, v, o, 8));
  __syncwarp();
  data[threadIdx.x] = v;
}

extern "C" __global__ void dynamic_reverse(int* data) {
  __shared__ int fixed[3];
  if (threadIdx.x < 3) fixed[threadIdx.x] = threadIdx.x * 1000;
  dynamic_shared[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = dynamic_shared[blockDim.x - 1 - threadIdx.x] + fixed[threadIdx.x % 3];
}

extern "C" __global__ void local_array(const int* in, int* out, int n) {
  int a[20];
  for (int i = 0; i < 20; i++) a[i] = in[(i + threadIdx.x) & 31];
  for (int i = 0; i < n; i++) a[(i * 7 + threadIdx.x) % 20] += a[i % 20];
  out[threadIdx.x] = a[n % 20];
}

extern "C" __global__ void wide_integers(const long long* in, long long* out) {
  long long a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
  long long* o = out + 8 * threadIdx.x;
  o[0] = a * b;
  o[1] = b ? a / b : 0;
  o[2] = b ? a % b : 0;
  o[3] = __mul64hi(a, b);
  o[4] = min(a, b) + llabs(b);
  o[5] = (long long)((unsigned long long)a >> (b & 63)) ^ (a << (b & 63));
  o[6] = __popcll(a) + __clzll(b) * 100 + __ffsll(a) * 10000;
  o[7] = (signed char)a + (unsigned short)b + (int)a;
}

extern "C" __global__ void narrow_integers(const unsigned* in, unsigned* out) {
  unsigned a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
  unsigned* o = out + 8 * threadIdx.x;
  o[0] = __byte_perm(a, b, 0x6241);
  o[1] = __funnelshift_l(a, b, b & 63) + __funnelshift_rc(a, b, a & 63);
  o[2] = __umulhi(a, b) ^ (unsigned)__mulhi((int)a, (int)b);
  o[3] = __brev(a) + __popc(b) + __clz(a) + __ffs(b);
  o[4] = __dp4a((int)a, (int)b, 7) + __dp4a(a, b, 9u);
  o[5] = __sad((int)a, (int)b, 5) + __usad(a, b, 6) + __mul24(a, b) + __hadd(a, b);
  o[6] = (a & 0xff) * (b >> 24) + ((a >> 5) & 0x3f) + ((int)(b << 7) >> 20);
  o[7] = (b ? a / b + a % b : 1) + (unsigned)((int)a / (int)((b & 255) + 1));
}

extern "C" __global__ void single_floats(const float* in, float* out) {
  float a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
  float* o = out + 12 * threadIdx.x;
  o[0] = a / b;
  o[1] = sqrtf(fabsf(a));
  o[2] = fmaf(a, b, -a);
  o[3] = __fadd_rz(a, b);
  o[4] = __fmul_ru(a, b);
  o[5] = __fmaf_rd(a, b, a);
  o[6] = __fdiv_rz(a, b);
  o[7] = fminf(a, b) + fmaxf(a, 2.f);
  o[8] = floorf(a) + ceilf(b) + truncf(a) + rintf(b);
  o[9] = (float)(int)a + (float)(unsigned)fabsf(b) + (float)(long long)(a * 1e6f);
  o[10] = copysignf(a, b) * (a < b ? 1.f : -2.f);
  o[11] = __saturatef(a) + __fsqrt_rd(fabsf(b)) + __frcp_ru(b);
}

extern "C" __global__ void double_floats(const double* in, double* out) {
  double a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
  double* o = out + 8 * threadIdx.x;
  o[0] = a / b;
  o[1] = sqrt(fabs(a));
  o[2] = fma(a, b, -a);
  o[3] = __dadd_rz(a, b);
  o[4] = __dmul_ru(a, b);
  o[5] = (double)(float)a + (double)(int)b;
  o[6] = rint(a) + fmin(a, b);
  o[7] = __ddiv_rd(a, b);
}

extern "C" __global__ void library_functions(const float* in, float* out, const double* din, double* dout) {
  float a = in[threadIdx.x];
  out[threadIdx.x] = sinf(a) + expf(a) + logf(fabsf(a) + 1.f) + powf(fabsf(a), 1.5f) + tanhf(a) + atan2f(a, 2.f);
  double d = din[threadIdx.x];
  dout[threadIdx.x] = sin(d) + exp(d) + log(fabs(d) + 1.) + pow(fabs(d), 1.5) + cbrt(d);
}

extern "C" __global__ void halves(const __half* in, __half* out, __half2* pairs) {
  __half a = in[threadIdx.x], b = in[threadIdx.x + 1];
  out[3 * threadIdx.x] = __hadd(a, b);
  out[3 * threadIdx.x + 1] = __float2half(__half2float(a) * 3.f);
  out[3 * threadIdx.x + 2] = __hlt(a, b) ? __hmul(a, b) : __hneg(b);
  pairs[threadIdx.x] = __hfma2(pairs[threadIdx.x], __halves2half2(a, b), __float2half2_rn(1.5f));
}

extern "C" __global__ void atomics(unsigned* u, int* s, float* f, unsigned long long* w, double* d) {
  __shared__ unsigned shared_count;
  if (threadIdx.x == 0) shared_count = 0;
  __syncthreads();
  atomicAdd(&shared_count, threadIdx.x);
  atomicAdd(u, 1u);
  atomicMax(u + 1, threadIdx.x * 7 % 64);
  atomicAnd(u + 2, ~(1u << (threadIdx.x & 31)));
  atomicXor(u + 3, threadIdx.x);
  atomicInc(u + 4, 9);
  atomicSub(u + 5, 2);
  atomicMin(s, (int)(17 - threadIdx.x));
  atomicAdd(f, 0.5f);
  atomicAdd(w, 1ull << 33);
  atomicAdd(d, 0.25);
  __syncthreads();
  if (threadIdx.x == 0) u[6] = shared_count;
}

__device__ int generic_sum(const int* p, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += p[i];
  return s;
}
extern "C" __global__ void generic_pointers(const int* g, int* out, int which) {
  __shared__ int s[4];
  int l[4];
  for (int i = 0; i < 4; ++i) l[i] = i * (int)threadIdx.x + which;
  if (threadIdx.x < 4) s[threadIdx.x] = threadIdx.x * 10;
  __syncthreads();
  const int* p = (threadIdx.x % 3 == 0) ? g : (threadIdx.x % 3 == 1) ? s : l;
  out[threadIdx.x] = generic_sum(p, 4) + (__isShared(p) ? 1000 : 0) + (__isGlobal(p) ? 2000 : 0);
}

extern "C" __global__ void __launch_bounds__(64) traps(int* out, int bad) {
  if (threadIdx.x == bad) __trap();
  out[threadIdx.x] = 1;
}
