// What a program can learn of the GPU, and how many blocks of a kernel fit.
#include <cstring>

#include "check.h"

__global__ void tile(float* to) {
  __shared__ float values[1024];
  values[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  to[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

extern __shared__ char dynamic[];
__global__ void large(int* to) {
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) *to = dynamic[blockDim.x - 1];
}

__global__ void allocate(int* worked, std::size_t bytes) {
  void* const memory = malloc(bytes);
  *worked = memory != nullptr;
  free(memory);
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  std::printf("%s: %d SMs, %zu bytes, compute capability %d.%d\n", p.name, p.multiProcessorCount, p.totalGlobalMem,
              p.major, p.minor);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == p.multiProcessorCount && value > 0);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(value == p.major);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(static_cast<std::size_t>(value) == p.sharedMemPerBlockOptin && p.warpSize == 32 &&
         p.maxThreadsPerBlock == 1024);
  std::size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  EXPECT(total == p.totalGlobalMem && free <= total && free > total / 2);
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  EXPECT(version == CUDART_VERSION / 1000 * 1000);
  EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0);

  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, 1024, 0));
  EXPECT(blocks >= 1 && blocks <= p.maxThreadsPerMultiProcessor / 1024);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, 128, 0));
  EXPECT(blocks >= 4);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 128, 16384));
  EXPECT(blocks == static_cast<int>(p.sharedMemPerMultiprocessor / (16384 + p.reservedSharedMemPerBlock)));
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, tile));
  EXPECT(block >= 32 && block <= 1024 && grid >= p.multiProcessorCount);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, tile));
  EXPECT(attributes.sharedSizeBytes == 4096 && attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
  EXPECT(attributes.maxDynamicSharedSizeBytes == (48 << 10) - 4096);
  tile<<<1, 128, 48 << 10>>>(nullptr);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  // The heap may grow until a kernel has used it.
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  int* from_heap = nullptr;
  CHECK(cudaMallocManaged(&from_heap, sizeof(int)));
  allocate<<<1, 1>>>(from_heap, 2 << 20);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*from_heap == 0);
  EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20) == cudaErrorInvalidValue);
  std::size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit == 1 << 20);

  // More than 48 KiB takes leave.
  int* result = nullptr;
  CHECK(cudaMalloc(&result, sizeof(int)));
  const int bytes = 60 << 10;
  large<<<1, 256, bytes>>>(result);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  large<<<1, 256, bytes>>>(result);
  CHECK(cudaGetLastError());
  int back = 0;
  CHECK(cudaMemcpy(&back, result, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back == 1);
  return verdict();
}
