// Memory that host and GPU share at one address: allocated, as a variable, advised and prefetched.
#include "check.h"

__managed__ int counter = 5;
__managed__ float table[3] = {1, 10, 100};

__global__ void scale(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= table[i % 3];
  if (i == 0) ++counter;
}

__global__ void count(unsigned* shared, int rounds) {
  for (int i = 0; i < rounds; ++i) atomicAdd_system(shared, 1u);
}

int main() {
  constexpr int kValues = 1000;
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, kValues * sizeof(float)));
  for (int i = 0; i < kValues; ++i) values[i] = static_cast<float>(i);
  table[2] = 1000;
  scale<<<4, 256>>>(values, kValues);
  CHECK(cudaDeviceSynchronize());
  EXPECT(counter == 6);
  const float factors[3] = {1, 10, 1000};
  for (int i = 0; i < kValues; ++i) EXPECT(values[i] == static_cast<float>(i) * factors[i % 3]);
  for (int i = 0; i < kValues; ++i) values[i] = 1;
  scale<<<4, 256>>>(values, kValues);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kValues; ++i) EXPECT(values[i] == factors[i % 3]);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, values + 1));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == values + 1 &&
         attributes.hostPointer == values + 1);
  // Host and kernel count together.
  unsigned* shared = nullptr;
  CHECK(cudaMallocManaged(&shared, sizeof(unsigned)));
  *shared = 0;
  count<<<4, 64>>>(shared, 20);
  unsigned mine = 0;
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady)
    for (int i = 0; i < 100; ++i, ++mine) __sync_fetch_and_add(shared, 1u);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*shared == mine + 4 * 64 * 20);
  CHECK(cudaFree(shared));
  CHECK(cudaFree(values));
  return verdict();
}
