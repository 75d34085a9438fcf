// Attention, forward, as FlashAttention has it: O = softmax(Q K^T / sqrt(d)) V of one head in each CTA row, without the matrix
// of scores ever leaving the registers. Each warp owns 16 queries; keys and values pass through shared memory in tiles
// that are copied while the one before is worked on. Rows are kDepth binary16 numbers; the result is binary32.
#include <cuda_fp16.h>

constexpr int kDepth = 64, kWarps = 4, kQueries = 16 * kWarps, kKeys = 32;
constexpr int kPitch = kDepth + 8;  // of a row in shared memory: rows begin in different banks

struct Tile {
  half rows[kKeys][kPitch];
};

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

/// Four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8.
template <bool kTransposed>
__device__ void load_matrices(unsigned (&m)[4], const void* row) {
  if constexpr (kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(shared_address(row)));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(shared_address(row)));
}

__device__ void multiply_add(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned packed(float low, float high) {
  const half2 h = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&h);
}

extern "C" __global__ void attention(const half* __restrict__ q, const half* __restrict__ k, const half* __restrict__ v,
                                     float* __restrict__ o, int n, float scale) {
  __shared__ alignas(16) Tile keys[2], values[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, pair = lane % 4 * 2;
  const size_t head = static_cast<size_t>(blockIdx.y) * n * kDepth;
  const int first = blockIdx.x * kQueries + warp * 16;
  const auto fetch = [&](int stage, int from) {
    for (int c = threadIdx.x; c < kKeys * kDepth / 8; c += kWarps * 32) {
      const int row = c / (kDepth / 8), column = c % (kDepth / 8) * 8;
      const size_t at = head + static_cast<size_t>(from + row) * kDepth + column;
      copy16(&keys[stage].rows[row][column], k + at);
      copy16(&values[stage].rows[row][column], v + at);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0, 0);
  unsigned queries[kDepth / 16][4];
  for (int s = 0; s < kDepth / 16; ++s)
    for (int r = 0; r < 4; ++r)
      queries[s][r] = *reinterpret_cast<const unsigned*>(
          q + head + static_cast<size_t>(first + group + r % 2 * 8) * kDepth + s * 16 + r / 2 * 8 + pair);
  float sums[kDepth / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  for (int from = 0, stage = 0; from < n; from += kKeys, stage ^= 1) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (from + kKeys < n) fetch(stage ^ 1, from + kKeys);
    float scores[kKeys / 8][4] = {};
    for (int s = 0; s < kDepth / 16; ++s)
      for (int t = 0; t < kKeys / 16; ++t) {
        unsigned b[4];
        load_matrices<false>(b, &keys[stage].rows[t * 16 + lane % 8 + lane / 16 * 8][s * 16 + lane / 8 % 2 * 8]);
        multiply_add(scores[2 * t], queries[s], b[0], b[1]);
        multiply_add(scores[2 * t + 1], queries[s], b[2], b[3]);
      }
    // A row of scores lies in the four lanes of a group: rows `group` in elements 0 and 1, `group` + 8 in 2 and 3.
    for (int r = 0; r < 2; ++r) {
      float largest = most[r];
      for (auto& tile : scores) largest = fmaxf(largest, fmaxf(tile[2 * r], tile[2 * r + 1]) * scale);
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
      const float shrink = exp2f(most[r] - largest);
      most[r] = largest;
      total[r] *= shrink;
      for (auto& tile : sums) tile[2 * r] *= shrink, tile[2 * r + 1] *= shrink;
      for (auto& tile : scores)
        for (int e = 2 * r; e < 2 * r + 2; ++e) total[r] += tile[e] = exp2f(tile[e] * scale - largest);
    }
    for (int t = 0; t < kKeys / 16; ++t) {
      const float(&low)[4] = scores[2 * t], (&high)[4] = scores[2 * t + 1];
      const unsigned a[4] = {packed(low[0], low[1]), packed(low[2], low[3]), packed(high[0], high[1]), packed(high[2], high[3])};
      for (int d = 0; d < kDepth / 16; ++d) {
        unsigned b[4];
        load_matrices<true>(b, &values[stage].rows[t * 16 + lane % 16][d * 16 + lane / 16 * 8]);
        multiply_add(sums[2 * d], a, b[0], b[1]);
        multiply_add(sums[2 * d + 1], a, b[2], b[3]);
      }
    }
  }
  for (int r = 0; r < 2; ++r) {
    total[r] += __shfl_xor_sync(~0u, total[r], 1);
    total[r] += __shfl_xor_sync(~0u, total[r], 2);
    for (int d = 0; d < kDepth / 8; ++d)
      *reinterpret_cast<float2*>(o + head + static_cast<size_t>(first + group + 8 * r) * kDepth + d * 8 + pair) =
          make_float2(sums[d][2 * r] / total[r], sums[d][2 * r + 1] / total[r]);
  }
}
