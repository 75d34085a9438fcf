// What a kernel does wrong is the code that CUDA gives it, and stays until the device is reset.
#include <cassert>

#include "check.h"

__global__ void store(int* to) {
  *to = 1;
}

__global__ void stop() {
  __trap();
}

__global__ void claim(int n) {
  assert(n == 1);
}

// One thread faults, and others wait for what it would have done: that ends them, too.
__global__ void wait_for(int* nowhere, volatile int* flag) {
  if (blockIdx.x == 0) {
    *nowhere = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
  }
}

__device__ int depth_of(int n) {
  volatile int kept[8];
  for (int i = 0; i < 8; ++i) kept[i] = n + i;
  return n == 0 ? 0 : depth_of(n - 1) + kept[n % 8] - n - n % 8 + 1;
}

__global__ void descend(int* depth, int n) {
  *depth = depth_of(n);
}

int main() {
  int* memory = nullptr;
  CHECK(cudaMalloc(&memory, 16));
  store<<<1, 1>>>(memory + 4000000);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&memory, 16) == cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  CHECK(cudaGetLastError());

  CHECK(cudaMalloc(&memory, 16));
  store<<<1, 1>>>(reinterpret_cast<int*>(reinterpret_cast<char*>(memory) + 1));
  EXPECT(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
  CHECK(cudaDeviceReset());

  stop<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceReset());

  claim<<<1, 1>>>(2);
  EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
  CHECK(cudaDeviceReset());

  CHECK(cudaMalloc(&memory, 16));
  CHECK(cudaMemset(memory, 0, 16));
  wait_for<<<2, 1>>>(reinterpret_cast<int*>(16), memory);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());

  // A stack is as deep as the program says.
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 128 << 10));
  int* depth = nullptr;
  CHECK(cudaMallocManaged(&depth, sizeof(int)));
  descend<<<1, 1>>>(depth, 1000);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*depth == 1000);

  // A graph that names memory which is gone.
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  int host = 0;
  CHECK(cudaMalloc(&memory, 16));
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, &host, memory, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaFree(memory));
  CHECK(cudaGraphLaunch(exec, 0));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());

  // Memory that was given back is nobody's.
  CHECK(cudaMalloc(&memory, 16));
  CHECK(cudaFree(memory));
  EXPECT(cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDefault) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(memory, &host, sizeof host, cudaMemcpyDefault) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  CHECK(cudaMalloc(&memory, 16));
  store<<<1, 2000>>>(memory);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  CHECK(cudaDeviceSynchronize());
  return verdict();
}
