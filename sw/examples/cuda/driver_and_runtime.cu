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
  // Modules as libraries of the runtime, which launches their kernels.
  static const char text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .global .align 4 .b32 table[2] = {3, 4};\n"
      ".visible .global .attribute(.managed) .align 4 .b32 shared = 8;\n"
      ".visible .entry put(.param .u64 to) {\n"
      ".reg .b32 %r<3>; .reg .b64 %d;\n"
      "ld.global.u32 %r1, [table+4]; ld.global.u32 %r2, [shared]; add.u32 %r1, %r1, %r2;\n"
      "ld.param.u64 %d, [to]; st.global.u32 [%d], %r1; st.global.u32 [shared], 70; ret; }\n";
  cudaLibrary_t library;
  cudaKernel_t put, listed;
  CHECK_RUNTIME(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned kernels = 0;
  CHECK_RUNTIME(cudaLibraryGetKernelCount(&kernels, library));
  CHECK_RUNTIME(cudaLibraryEnumerateKernels(&listed, 1, library));
  CHECK_RUNTIME(cudaLibraryGetKernel(&put, library, "put"));
  EXPECT(kernels == 1 && put == listed);
  EXPECT(cudaLibraryGetKernel(&listed, library, "none") == cudaErrorSymbolNotFound);
  EXPECT(cudaGetLastError() == cudaErrorSymbolNotFound);
  CHECK_RUNTIME(cudaLibraryGetGlobal(&variable, &bytes, library, "table"));
  EXPECT(bytes == 8);
  int* shared = nullptr;
  CHECK_RUNTIME(cudaLibraryGetManaged(reinterpret_cast<void**>(&shared), &bytes, library, "shared"));
  EXPECT(bytes == 4 && *shared == 8);
  EXPECT(cudaLibraryGetManaged(&variable, &bytes, library, "table") == cudaErrorSymbolNotFound);
  *shared = 9;
  void* of_put[] = {&values};
  CHECK_RUNTIME(cudaLaunchKernel(reinterpret_cast<void*>(put), dim3(1), dim3(1), of_put, 0, stream));
  CHECK_RUNTIME(cudaStreamSynchronize(stream));
  CHECK_RUNTIME(cudaMemcpy(found.data(), values, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(found[0] == 4 + 9 && *shared == 70);
  CHECK_RUNTIME(cudaLibraryUnload(library));
  CHECK(cuEventDestroy(event));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(address));
  std::puts("PASSED");
}
