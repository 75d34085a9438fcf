// Memory in the order of streams, from pools.
#include "check.h"

__global__ void fill(int* values, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = value + i;
}

int main() {
  constexpr int kValues = 10000;
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  cudaMemLocation gpu = {};
  gpu.type = cudaMemLocationTypeDevice;
  cudaMemPool_t by_place = nullptr;
  CHECK(cudaMemGetDefaultMemPool(&by_place, &gpu, cudaMemAllocationTypePinned));
  EXPECT(by_place == pool);
  CHECK(cudaMemSetMemPool(&gpu, cudaMemAllocationTypePinned, pool));
  CHECK(cudaMemGetMemPool(&by_place, &gpu, cudaMemAllocationTypePinned));
  EXPECT(by_place == pool);
  gpu.id = 5;
  EXPECT(cudaMemGetMemPool(&by_place, &gpu, cudaMemAllocationTypePinned) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  unsigned long long threshold = ~0ULL;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(threshold == ~0ULL);
  static int host[kValues];
  for (int round = 0; round < 3; ++round) {
    int* values = nullptr;
    CHECK(cudaMallocAsync(&values, sizeof host, stream));
    fill<<<40, 256, 0, stream>>>(values, kValues, round);
    CHECK(cudaMemcpyAsync(host, values, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(values, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < kValues; ++i) EXPECT(host[i] == round + i);
  }
  unsigned long long used = 1, most = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
  EXPECT(used == 0 && most >= sizeof host);

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own;
  CHECK(cudaMemPoolCreate(&own, &properties));
  int* values = nullptr;
  CHECK(cudaMallocFromPoolAsync(&values, sizeof host, own, stream));
  fill<<<40, 256, 0, stream>>>(values, kValues, 7);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kValues; ++i) EXPECT(host[i] == 7 + i);
  CHECK(cudaFree(values));
  CHECK(cudaMemPoolTrimTo(own, 0));
  CHECK(cudaMemPoolDestroy(own));
  CHECK(cudaStreamDestroy(stream));
  return verdict();
}
