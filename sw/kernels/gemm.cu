// C = A B^T on tensor cores: A is m by k and B n by k, both bf16 and row by row, C m by n in f32. A block of four
// warps makes 64 by 64 of C. Tiles of 64 by 32 of A and B come by cp.async past L1 while those before them are
// multiplied. m and n are multiples of 64, k of 32.
#include <cstdint>

constexpr unsigned kTile = 64, kDepth = 32, kThreads = 128;
constexpr unsigned kRow = kDepth + 8;  // 80 bytes: the 8 rows of a matrix fall in different banks

struct Stage {
  alignas(16) uint16_t a[kTile][kRow];
  alignas(16) uint16_t b[kTile][kRow];
};

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Four matrices of 8 by 8: of 16 rows, and of 16 columns from `column` on.
__device__ void load_matrices(unsigned (&to)[4], const uint16_t (*rows)[kRow], unsigned column) {
  const unsigned lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(&rows[lane % 16][column + lane / 16 * 8])));
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const uint16_t* __restrict__ a, const uint16_t* __restrict__ b, float* __restrict__ c, unsigned n, unsigned k) {
  __shared__ Stage stages[2];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  const unsigned warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const auto fetch = [&](unsigned first, Stage& stage) {
    if (first < k) {
      for (unsigned piece = threadIdx.x; piece < kTile * kDepth / 8; piece += kThreads) {
        const unsigned r = piece / (kDepth / 8), at = piece % (kDepth / 8) * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&stage.a[r][at])),
                     "l"(a + static_cast<size_t>(row + r) * k + first + at));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&stage.b[r][at])),
                     "l"(b + static_cast<size_t>(column + r) * k + first + at));
      }
    }
    asm volatile("cp.async.commit_group;");
  };
  float sum[2][4][4] = {};
  fetch(0, stages[0]);
  for (unsigned first = 0, s = 0; first < k; first += kDepth, s ^= 1) {
    fetch(first + kDepth, stages[s ^ 1]);
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    for (unsigned x = 0; x < kDepth; x += 16) {
      unsigned left[2][4], right[2][4];
      for (unsigned i = 0; i < 2; ++i) load_matrices(left[i], &stages[s].a[warp_row + i * 16], x);
      for (unsigned j = 0; j < 2; ++j) load_matrices(right[j], &stages[s].b[warp_column + j * 16], x);
      for (unsigned i = 0; i < 2; ++i)
        for (unsigned j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j / 2][j % 2]),
                "r"(right[j / 2][j % 2 + 2]));
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned j = 0; j < 4; ++j)
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned r = row + warp_row + i * 16 + half * 8 + lane / 4;
        const unsigned at = column + warp_column + j * 8 + lane % 4 * 2;
        *reinterpret_cast<float2*>(c + static_cast<size_t>(r) * n + at) =
            make_float2(sum[i][j][half * 2], sum[i][j][half * 2 + 1]);
      }
}
