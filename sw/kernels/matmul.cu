// C = A B for square matrices whose side is a multiple of 16. Each block owns a 16 x 16 tile of C and walks along a
// row of tiles of A and a column of tiles of B, both staged in shared memory.
constexpr unsigned kTile = 16;

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  unsigned n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const unsigned row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (unsigned t = 0; t < n; t += kTile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned k = 0; k < kTile; ++k) sum = fmaf(a_tile[threadIdx.y][k], b_tile[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}
