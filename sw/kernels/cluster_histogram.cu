// Target: sm_90
// A histogram of 1024 bins that lies in the shared memory of four blocks of a cluster, 256 bins in each: every
// thread counts in the block that owns the bin, over the network between SMs. Then each block adds its part to
// the result in global memory, where the clusters meet.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned kBlocks = 4;
constexpr unsigned kBinsPerBlock = 256;

extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1)
    cluster_histogram(const unsigned* values, unsigned count, unsigned* bins) {
  __shared__ unsigned part[kBinsPerBlock];
  cg::cluster_group cluster = cg::this_cluster();
  for (unsigned i = threadIdx.x; i < kBinsPerBlock; i += blockDim.x) part[i] = 0;
  cluster.sync();  // no block counts before all parts are there and empty
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned bin = values[i] % (kBlocks * kBinsPerBlock);
    atomicAdd(cluster.map_shared_rank(part, bin / kBinsPerBlock) + bin % kBinsPerBlock, 1u);
  }
  cluster.sync();  // no block ends while another counts in it
  for (unsigned i = threadIdx.x; i < kBinsPerBlock; i += blockDim.x)
    atomicAdd(&bins[cluster.block_rank() * kBinsPerBlock + i], part[i]);
}
