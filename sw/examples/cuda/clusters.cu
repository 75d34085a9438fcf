// exec: --gpu h100 | nvcc: -arch=sm_90
// Blocks of a cluster read each other's shared memory; a second grid begins before the first ends.
#include <cooperative_groups.h>
#include <cuda.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void exchange(int* to) {
  __shared__ int mine[64];
  const cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  to[blockIdx.x * 64 + threadIdx.x] = *cluster.map_shared_rank(&mine[threadIdx.x], next);
  cluster.sync();
}

__global__ void first(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(const int* values, int* sums) {
  cudaGridDependencySynchronize();
  sums[threadIdx.x] = values[threadIdx.x] + 1;
}

int main() {
  int *values, *sums;
  CHECK(cudaMalloc(&values, 512 * sizeof(int)));
  CHECK(cudaMalloc(&sums, 512 * sizeof(int)));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8);
  config.blockDim = dim3(64);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, exchange, values));
  int host[512];
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  for (int b = 0; b < 8; ++b)
    for (int t = 0; t < 64; ++t) EXPECT(host[b * 64 + t] == (b / 4 * 4 + (b + 1) % 4) * 100 + t);

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  first<<<1, 256, 0, stream>>>(values);
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = dim3(1);
  config.blockDim = dim3(256);
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, second, const_cast<const int*>(values), sums));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(host, sums, 256 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int t = 0; t < 256; ++t) EXPECT(host[t] == t + 1);
  // How many clusters fit, by both APIs.
  int clusters = 0, by_driver = 0, largest = 0;
  config.gridDim = dim3(8);
  config.blockDim = dim3(64);
  config.numAttrs = 1;
  config.attrs = &attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, exchange, &config));
  CUlaunchConfig same = {};
  same.gridDimX = same.gridDimY = same.gridDimZ = same.blockDimY = same.blockDimZ = 1;
  same.blockDimX = 64;
  same.attrs = reinterpret_cast<CUlaunchAttribute*>(&attribute);
  same.numAttrs = 1;
  decltype(&cuOccupancyMaxActiveClusters) active = nullptr;
  decltype(&cuOccupancyMaxPotentialClusterSize) size_of = nullptr;
  cudaDriverEntryPointQueryResult told;
  CHECK(cudaGetDriverEntryPointByVersion("cuOccupancyMaxActiveClusters", reinterpret_cast<void**>(&active), 12000,
                                         cudaEnableDefault, &told));
  CHECK(cudaGetDriverEntryPointByVersion("cuOccupancyMaxPotentialClusterSize", reinterpret_cast<void**>(&size_of),
                                         12000, cudaEnableDefault, &told));
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(exchange)));
  EXPECT(active(&by_driver, function, &same) == CUDA_SUCCESS && by_driver == clusters && clusters > 0);
  EXPECT(size_of(&largest, function, &same) == CUDA_SUCCESS && largest == 8);
  return verdict();
}
