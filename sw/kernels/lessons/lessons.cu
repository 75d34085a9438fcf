// Options: -lineinfo
// Six mistakes, each in a kernel that is right and slow, and what mends it. The line that costs most says so: "slow:".
// docs/profiles.md finds each of them by its profile. Blocks are of 256 threads.
constexpr unsigned kThreads = 256;

// Coalescing. Each thread adds up 32 numbers that lie together: a warp reads 32 lines at a time. Mended, the warp's lie together.
extern "C" __global__ void scattered(const float* __restrict__ in, float* __restrict__ out) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < 32; ++i)
    sum += in[thread * 32 + i];  // slow: coalescing
  out[thread] = sum;
}
extern "C" __global__ void coalesced(const float* __restrict__ in, float* __restrict__ out) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  const unsigned all = gridDim.x * kThreads;
  float sum = 0;
  for (unsigned i = 0; i < 32; ++i) sum += in[i * all + thread];
  out[thread] = sum;
}

// Bank conflicts. A warp reads a column of a tile whose rows are 32 words: all of it lies in one bank. Mended, rows have 33.
template <unsigned kWidth>
__device__ void columns(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[32][kWidth];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned row = warp; row < 32; row += kThreads / 32) tile[row][lane] = in[row * 32 + lane];
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < 128; ++i)
    sum += tile[lane][(warp + i) % 32];  // slow: banks
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}
extern "C" __global__ void conflicting(const float* __restrict__ in, float* __restrict__ out) {
  columns<32>(in, out);
}
extern "C" __global__ void padded(const float* __restrict__ in, float* __restrict__ out) {
  columns<33>(in, out);
}

// Tiling. A product of matrices of `n` by `n` that reads each number n times from L1 or L2. Mended, 16 times less, by tiles.
extern "C" __global__ void untiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                   unsigned n) {
  const unsigned column = blockIdx.x * 16 + threadIdx.x % 16, row = blockIdx.y * 16 + threadIdx.x / 16;
  float sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];  // slow: tiling
  c[row * n + column] = sum;
}
extern "C" __global__ void tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                 unsigned n) {
  __shared__ float left[16][16], right[16][16];
  const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
  const unsigned column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (unsigned k = 0; k < n; k += 16) {
    left[y][x] = a[row * n + k + x];
    right[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (unsigned i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// False sharing. Warps draw numbers from counters that are theirs alone, and lie in one line. Mended, each has a line of its own.
template <unsigned kApart>
__device__ void draw(unsigned* counts, unsigned* __restrict__ out) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 16; ++i)
    sum += atomicAdd(&counts[thread / 32 * kApart], 1);  // slow: sharing
  out[thread] = sum;
}
extern "C" __global__ void sharing(unsigned* counts, unsigned* __restrict__ out) {
  draw<1>(counts, out);
}
extern "C" __global__ void apart(unsigned* counts, unsigned* __restrict__ out) {
  draw<32>(counts, out);
}

// A hot slice. All blocks look up a table of one line, past L1, which one slice of L2 has. Mended, L1 may keep it.
extern "C" __global__ void hot(const float* __restrict__ in, const float* table, float* __restrict__ out) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  float sum = in[thread];
#pragma unroll 1
  for (unsigned i = 0; i < 32; ++i)
    sum += __ldcg(&table[(thread + i) % 32]);  // slow: slice
  out[thread] = sum;
}
extern "C" __global__ void kept(const float* __restrict__ in, const float* __restrict__ table, float* __restrict__ out) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  float sum = in[thread];
#pragma unroll 1
  for (unsigned i = 0; i < 32; ++i) sum += table[(thread + i) % 32];
  out[thread] = sum;
}

// L1 thrashing. Each block goes over 256 KiB again and again, which L1 does not hold. Mended, it goes over a part that L1 holds as
// often as it has to, and then over the next.
extern "C" __global__ void thrashing(const float* in, float* __restrict__ out) {
  const float* own = in + (blockIdx.x % 2) * 65536;
  float sum = 0;
#pragma unroll 1
  for (unsigned pass = 0; pass < 4; ++pass)
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < 65536; i += kThreads)
      sum += own[i];  // slow: L1
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}
extern "C" __global__ void blocked(const float* in, float* __restrict__ out) {
  const float* own = in + (blockIdx.x % 2) * 65536;
  float sum = 0;
#pragma unroll 1
  for (unsigned part = 0; part < 65536; part += 4096)
#pragma unroll 1
    for (unsigned pass = 0; pass < 4; ++pass)
#pragma unroll 1
      for (unsigned i = threadIdx.x; i < 4096; i += kThreads) sum += own[part + i];
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}
