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

// What a kernel can ask of its GPU and of kernels.
__global__ void ask(int* answers) {
  int value = 0;
  std::size_t limit = 0;
  cudaFuncCache preference;
  cudaFuncAttributes attributes;
  answers[0] = cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
  answers[1] = value;
  answers[2] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
  answers[3] = static_cast<int>(limit);
  answers[4] = cudaDeviceGetCacheConfig(&preference);
  answers[5] = cudaFuncGetAttributes(&attributes, leaf);
  answers[6] = attributes.numRegs;
  answers[7] = attributes.maxDynamicSharedSizeBytes;
  answers[8] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, leaf, 96, 0);
  answers[9] = value;
  answers[10] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, leaf, 64, 20000, 0);
  answers[11] = value;
  answers[12] = cudaDeviceGetAttribute(&value, cudaDeviceAttr(999), 0);
  answers[13] = cudaFuncGetAttributes(&attributes, static_cast<const void*>(answers));
  answers[14] = cudaRuntimeGetVersion(&value);
  answers[15] = value;
}

void asks(int* answers) {
  int sms = 0, version = 0, blocks[2];
  cudaFuncAttributes attributes;
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 3000));
  CHECK(cudaFuncSetAttribute(leaf, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaFuncGetAttributes(&attributes, leaf));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[0], leaf, 96, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[1], leaf, 64, 20000));
  CHECK(cudaRuntimeGetVersion(&version));
  ask<<<1, 1>>>(answers);
  CHECK(cudaDeviceSynchronize());
  const int expected[] = {0, sms, 0, 3000, 0, 0, attributes.numRegs, 60000, 0, blocks[0], 0, blocks[1],
                          cudaErrorInvalidValue, cudaErrorInvalidDeviceFunction, 0, version};
  for (int i = 0; i < 16; ++i) EXPECT(answers[i] == expected[i], "answer %d: %d, not %d", i, answers[i], expected[i]);
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
  asks(copy);
  return verdict();
}
