// Variables of a program on the GPU: global and constant, written, read, and by their addresses.
#include <cstring>

#include "check.h"

__device__ int counters[4];
__constant__ float coefficients[8];
__device__ float* pointer;

__global__ void evaluate(float x, float* result) {
  float sum = 0;
  for (int i = 7; i >= 0; --i) sum = sum * x + coefficients[i];
  result[threadIdx.x] = sum + static_cast<float>(counters[threadIdx.x % 4]);
  if (threadIdx.x == 0) pointer = result;
}

int main() {
  const float given[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(cudaMemcpyToSymbol(coefficients, given, sizeof given));
  const int counts[2] = {30, 40};
  CHECK(cudaMemcpyToSymbol(counters, counts, sizeof counts, 2 * sizeof(int)));
  float* result = nullptr;
  CHECK(cudaMalloc(&result, 32 * sizeof(float)));
  evaluate<<<1, 32>>>(2, result);
  float values[32];
  CHECK(cudaMemcpy(values, result, sizeof values, cudaMemcpyDeviceToHost));
  const float polynomial = 1 + 4 + 12 + 32 + 80 + 192 + 448 + 1024;
  const float added[4] = {0, 0, 30, 40};
  for (int i = 0; i < 32; ++i) EXPECT(values[i] == polynomial + added[i % 4]);
  float* seen = nullptr;
  CHECK(cudaMemcpyFromSymbol(&seen, pointer, sizeof seen));
  EXPECT(seen == result);
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, counters));
  CHECK(cudaGetSymbolSize(&bytes, counters));
  EXPECT(bytes == sizeof(int) * 4);
  CHECK(cudaMemset(address, 1, bytes));
  int back[4];
  CHECK(cudaMemcpyFromSymbol(back, counters, sizeof back));
  for (const int b : back) EXPECT(b == 0x01010101);
  // Constants change between grids.
  CHECK(cudaGetSymbolAddress(&address, coefficients));
  CHECK(cudaMemset(address, 0, sizeof given));
  evaluate<<<1, 32>>>(2, result);
  CHECK(cudaMemcpy(values, result, sizeof values, cudaMemcpyDeviceToHost));
  for (const float v : values) EXPECT(v == 0x01010101);
  // After a reset they are as they were when the program began.
  CHECK(cudaDeviceReset());
  CHECK(cudaMemcpyFromSymbol(back, counters, sizeof back));
  for (const int b : back) EXPECT(b == 0);
  return verdict();
}
