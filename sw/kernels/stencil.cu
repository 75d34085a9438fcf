// One step of heat diffusion on a plane, 5-point, edges held by reflection. A 16 x 16 block works on its tile of
// shared memory with a halo of one cell, so that each cell is fetched about once.
constexpr int kSide = 16;

__device__ int clamp(int v, int limit) { return min(max(v, 0), limit - 1); }

extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                                   float rate) {
  __shared__ float tile[kSide + 2][kSide + 2];
  const int left = blockIdx.x * kSide - 1, top = blockIdx.y * kSide - 1;
  for (int cell = threadIdx.y * kSide + threadIdx.x; cell < (kSide + 2) * (kSide + 2); cell += kSide * kSide) {
    const int y = cell / (kSide + 2), x = cell % (kSide + 2);
    tile[y][x] = in[clamp(top + y, height) * width + clamp(left + x, width)];
  }
  __syncthreads();
  const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  if (x >= width || y >= height) return;
  const float(*at)[kSide + 2] = &tile[threadIdx.y];
  const int c = threadIdx.x + 1;
  const float around = (at[0][c] + at[2][c]) + (at[1][c - 1] + at[1][c + 1]);
  out[y * width + x] = fmaf(rate, fmaf(-4.0f, at[1][c], around), at[1][c]);
}
