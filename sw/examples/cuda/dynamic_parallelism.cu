// exec: | nvcc: -rdc=true -lcudadevrt
// Kernels that launch kernels.
#include "check.h"

__global__ void leaf(int* values, int base) {
  values[base + threadIdx.x] += base;
}

__global__ void root(int* values, int parts) {
  const int part = threadIdx.x;
  if (part < parts) leaf<<<1, 32>>>(values, 32 * part);
}

// Copies and fills take their turn among launches.
__global__ void move(int* values, int* copy) {
  leaf<<<1, 32>>>(values, 0);
  cudaMemcpyAsync(copy, values, 32 * sizeof(int), cudaMemcpyDeviceToDevice, nullptr);
  leaf<<<1, 32>>>(values, 32);
  cudaMemsetAsync(values, 1, 16 * sizeof(int), nullptr);
  cudaMemcpy2DAsync(copy + 32, 8, values + 32, 16, 8, 8, cudaMemcpyDeviceToDevice, nullptr);
}

int main() {
  int* values = nullptr;
  CHECK(cudaMallocManaged(&values, 128 * sizeof(int)));
  for (int i = 0; i < 128; ++i) values[i] = i;
  root<<<1, 4>>>(values, 4);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i) EXPECT(values[i] == i + i / 32 * 32);
  int* copy = nullptr;
  CHECK(cudaMallocManaged(&copy, 64 * sizeof(int)));
  for (int i = 0; i < 128; ++i) values[i] = i;
  move<<<1, 1>>>(values, copy);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT(copy[i] == i);
  for (int i = 0; i < 16; ++i) EXPECT(values[i] == 0x01010101);
  for (int i = 0; i < 16; ++i) EXPECT(copy[32 + i] == 64 + i / 2 * 4 + i % 2);
  return verdict();
}
