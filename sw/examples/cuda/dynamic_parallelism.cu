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

int main() {
  int* values = nullptr;
  CHECK(cudaMallocManaged(&values, 128 * sizeof(int)));
  for (int i = 0; i < 128; ++i) values[i] = i;
  root<<<1, 4>>>(values, 4);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 128; ++i) EXPECT(values[i] == i + i / 32 * 32);
  return verdict();
}
