// out[column][row] = in[row][column], twice: reading whole lines and writing single words, and through a tile in
// shared memory that makes both sides whole lines. Blocks are 32 x 8 threads, one block per 32 x 32 tile.
constexpr unsigned kTile = 32;

extern "C" __global__ void transpose_naive(const float* __restrict__ in, float* __restrict__ out, unsigned width,
                                           unsigned height) {
  const unsigned column = blockIdx.x * kTile + threadIdx.x;
  for (unsigned j = threadIdx.y; j < kTile; j += blockDim.y) {
    const unsigned row = blockIdx.y * kTile + j;
    if (row < height && column < width) out[column * height + row] = in[row * width + column];
  }
}

extern "C" __global__ void transpose_tiled(const float* __restrict__ in, float* __restrict__ out, unsigned width,
                                           unsigned height) {
  __shared__ float tile[kTile][kTile + 1];  // one word of padding: a column touches 32 different banks
  const unsigned left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  for (unsigned j = threadIdx.y; j < kTile; j += blockDim.y)
    if (top + j < height && left + threadIdx.x < width)
      tile[j][threadIdx.x] = in[(top + j) * width + left + threadIdx.x];
  __syncthreads();
  for (unsigned j = threadIdx.y; j < kTile; j += blockDim.y)
    if (left + j < width && top + threadIdx.x < height)
      out[(left + j) * height + top + threadIdx.x] = tile[threadIdx.x][j];
}
