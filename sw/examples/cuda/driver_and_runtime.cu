// exec: | nvcc: -lcuda
// Both APIs in one program: streams, events, kernels and memory of one are the other's.
#include <cuda_runtime.h>

#include <vector>

#include "driver_check.h"

__global__ void add(int* values, int by) { values[blockIdx.x * blockDim.x + threadIdx.x] += by; }
__device__ int counter = 5;

static void check_runtime(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s\nFAILED\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK_RUNTIME(call) check_runtime(call, __LINE__)

int main() {
  constexpr int kCount = 256;
  // The runtime has the primary context of its device.
  int* values = nullptr;
  CHECK_RUNTIME(cudaMalloc(&values, kCount * sizeof(int)));
  CUcontext context = nullptr, primary = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(context != nullptr && context == primary);

  const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(values);
  CHECK(cuMemsetD32(address, 100, kCount));
  cudaStream_t stream;
  CHECK_RUNTIME(cudaStreamCreate(&stream));
  add<<<2, 128, 0, stream>>>(values, 1);
  cudaFunction_t by_symbol;
  CHECK_RUNTIME(cudaGetFuncBySymbol(&by_symbol, reinterpret_cast<const void*>(add)));
  int by = 10;
  void* parameters[] = {&values, &by};
  CHECK(cuLaunchKernel(by_symbol, 2, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr));
  CUevent event;
  CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CHECK_RUNTIME(cudaEventRecord(event, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK_RUNTIME(cudaEventQuery(event));
  std::vector<int> found(kCount);
  CHECK_RUNTIME(cudaMemcpy(found.data(), values, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  for (int v : found) EXPECT(v == 111);

  // A context of the program's own has the same memory.
  CUcontext own;
#if CUDA_VERSION >= 13000
  CHECK(cuCtxCreate(&own, nullptr, 0, 0));
#else
  CHECK(cuCtxCreate(&own, 0, 0));
#endif
  CHECK(cuMemcpyDtoH(found.data(), address, sizeof(int)));
  EXPECT(found[0] == 111);
  CHECK(cuCtxPopCurrent(&context));
  EXPECT(context == own);
  CHECK(cuCtxGetCurrent(&context));
  EXPECT(context == primary);
  CHECK(cuCtxDestroy(own));

  void* variable = nullptr;
  CHECK_RUNTIME(cudaGetSymbolAddress(&variable, counter));
  int value = 0;
  CHECK(cuMemcpyDtoH(&value, reinterpret_cast<CUdeviceptr>(variable), sizeof value));
  EXPECT(value == 5);
  unsigned kind = 0;
  CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 40));
  EXPECT(kind == CU_MEMORYTYPE_DEVICE);
  CUdeviceptr start = 0;
  size_t bytes = 0;
  CHECK(cuMemGetAddressRange(&start, &bytes, address + 40));
  EXPECT(start == address && bytes == kCount * sizeof(int));

  // The runtime leads to functions of the driver API.
  using AllocateFunction = CUresult (*)(CUdeviceptr*, size_t);
  AllocateFunction allocate = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK_RUNTIME(cudaGetDriverEntryPointByVersion("cuMemAlloc", reinterpret_cast<void**>(&allocate), 12000,
                                                 cudaEnableDefault, &result));
  EXPECT(result == cudaDriverEntryPointSuccess);
  CUdeviceptr more;
  CHECK(allocate(&more, 64));
  CHECK_RUNTIME(cudaFree(reinterpret_cast<void*>(more)));
  CHECK(cuEventDestroy(event));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(address));
  std::puts("PASSED");
}
