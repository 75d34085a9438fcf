// exec: | nvcc: -lcuda
// Streams of the driver API: values that they write and wait for, events, callbacks, launches with attributes,
// copies of rows and of slices.
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "driver_check.h"

__global__ void spread(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += i;
}

int main() {
  cudaFree(nullptr);
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  unsigned flags = 0;
  CHECK(cuStreamGetFlags(stream, &flags));
  EXPECT(flags == CU_STREAM_NON_BLOCKING);

  // The stream waits until the host writes, and tells the host by a value of its own.
  std::atomic<unsigned>* words = nullptr;
  CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 64, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr address;
  CHECK(cuMemHostGetDevicePointer(&address, words, 0));
  words[0] = 0;
  words[1] = 0;
  CHECK(cuStreamWaitValue32(stream, address, 3, CU_STREAM_WAIT_VALUE_GEQ));
  CHECK(cuStreamWriteValue32(stream, address + 4, 77, CU_STREAM_WRITE_VALUE_DEFAULT));
  EXPECT(cuStreamWaitValue32(stream, address + 2, 3, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && words[1] == 0);
  words[0] = 3;
  CHECK(cuStreamSynchronize(stream));
  EXPECT(words[1] == 77);

  // Rows, and slices of rows.
  constexpr size_t kWidth = 24, kHeight = 5, kDepth = 3;
  CUdeviceptr rows;
  size_t pitch = 0;
  CHECK(cuMemAllocPitch(&rows, &pitch, kWidth, kHeight * kDepth, 4));
  EXPECT(pitch >= kWidth && pitch % 32 == 0);
  CHECK(cuMemsetD2D8(rows, pitch, 9, kWidth, kHeight * kDepth));
  std::vector<unsigned char> host(kWidth * kHeight * kDepth), back(host.size());
  std::iota(host.begin(), host.end(), 0);
  CUDA_MEMCPY2D flat = {};
  flat.srcMemoryType = CU_MEMORYTYPE_HOST;
  flat.srcHost = host.data();
  flat.srcPitch = kWidth;
  flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.dstDevice = rows;
  flat.dstPitch = pitch;
  flat.dstY = 1;
  flat.dstXInBytes = 8;
  flat.WidthInBytes = 16;
  flat.Height = 2;
  CHECK(cuMemcpy2D(&flat));
  CUDA_MEMCPY3D deep = {};
  deep.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  deep.srcDevice = rows;
  deep.srcPitch = pitch;
  deep.srcHeight = kHeight;
  deep.dstMemoryType = CU_MEMORYTYPE_HOST;
  deep.dstHost = back.data();
  deep.dstPitch = kWidth;
  deep.dstHeight = kHeight;
  deep.WidthInBytes = kWidth;
  deep.Height = kHeight;
  deep.Depth = kDepth;
  CHECK(cuMemcpy3DAsync(&deep, stream));
  CHECK(cuStreamSynchronize(stream));
  for (size_t i = 0; i < back.size(); ++i) {
    const size_t x = i % kWidth, y = i / kWidth;
    const bool copied = (y == 1 || y == 2) && x >= 8;
    EXPECT(back[i] == (copied ? (y - 1) * kWidth + x - 8 : 9));
  }

  // A launch with attributes, between events.
  CUevent begin, end;
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  int n = 1000;
  CUdeviceptr values;
  CHECK(cuMemAlloc(&values, n * sizeof(int)));
  CHECK(cuMemsetD32Async(values, 5, n, stream));
  cudaFunction_t function;
  EXPECT(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(spread)) == cudaSuccess);
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = 0;
  CUlaunchConfig config = {};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* parameters[] = {&values, &n};
  CHECK(cuEventRecord(begin, stream));
  CHECK(cuLaunchKernelEx(&config, function, parameters, nullptr));
  CHECK(cuEventRecord(end, stream));
  CHECK(cuEventSynchronize(end));
  float ms = 0;
  CHECK(cuEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0);
  std::vector<int> found(n);
  CHECK(cuMemcpyDtoH(found.data(), values, n * sizeof(int)));
  for (int i = 0; i < n; ++i) EXPECT(found[i] == 5 + i);

  int calls = 0;
  CHECK(cuLaunchHostFunc(stream, [](void* p) { ++*static_cast<int*>(p); }, &calls));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(calls == 1);
  CHECK(cuMemFree(values));
  CHECK(cuMemFree(rows));
  CHECK(cuMemFreeHost(words));
  CHECK(cuStreamDestroy(stream));
  std::puts("PASSED");
}
