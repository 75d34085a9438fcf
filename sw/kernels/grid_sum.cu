// Sums of rows by a grid that stays: for each row every block adds its share and folds it, all blocks wait for each other, and the
// first one adds the blocks' sums. A cooperative launch has all blocks resident at once, or they would wait for ever.
#include <cooperative_groups.h>

namespace groups = cooperative_groups;
constexpr unsigned kWarp = 32;

__device__ unsigned fold(groups::thread_block_tile<kWarp>& warp, unsigned v) {
  for (unsigned distance = kWarp / 2; distance != 0; distance /= 2) v += warp.shfl_down(v, distance);
  return v;
}

// partial has an element for each block; blockDim.x is a multiple of 32.
extern "C" __global__ void grid_sum(const unsigned* in, unsigned rows, unsigned columns, unsigned* partial, unsigned* out) {
  __shared__ unsigned warp_sums[kWarp];
  groups::grid_group grid = groups::this_grid();
  groups::thread_block block = groups::this_thread_block();
  groups::thread_block_tile<kWarp> warp = groups::tiled_partition<kWarp>(block);
  for (unsigned row = 0; row < rows; ++row) {
    unsigned v = 0;
    for (unsigned i = grid.thread_rank(); i < columns; i += grid.size()) v += in[row * columns + i];
    v = fold(warp, v);
    if (warp.thread_rank() == 0) warp_sums[threadIdx.x / kWarp] = v;
    block.sync();
    if (threadIdx.x == 0) {
      unsigned sum = 0;
      for (unsigned w = 0; w < blockDim.x / kWarp; ++w) sum += warp_sums[w];
      partial[blockIdx.x] = sum;
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
      unsigned sum = 0;
      for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
      out[row] = sum;
    }
    grid.sync();
  }
}
