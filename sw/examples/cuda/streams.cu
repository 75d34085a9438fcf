// Pieces of a vector are copied in, doubled and copied out in streams of their own, one of which waits for an
// event of another.
#include <vector>

#include "check.h"

__global__ void twice(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}

__global__ void sum_of(const int* values, int n, int* sum) {
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += values[i];
  atomicAdd(sum, mine);
}

int main() {
  constexpr int kStreams = 4, kPart = 4096, kAll = kStreams * kPart;
  int *host, *device, *sum;
  CHECK(cudaMallocHost(&host, kAll * sizeof(int)));
  CHECK(cudaMalloc(&device, kAll * sizeof(int)));
  CHECK(cudaMalloc(&sum, sizeof(int)));
  for (int i = 0; i < kAll; ++i) host[i] = i;
  cudaStream_t streams[kStreams];
  cudaEvent_t done[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
  }
  CHECK(cudaMemsetAsync(sum, 0, sizeof(int), streams[0]));
  for (int s = 0; s < kStreams; ++s) {
    int* const part = device + s * kPart;
    CHECK(cudaMemcpyAsync(part, host + s * kPart, kPart * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
    twice<<<kPart / 256, 256, 0, streams[s]>>>(part, kPart);
    CHECK(cudaEventRecord(done[s], streams[s]));
    CHECK(cudaMemcpyAsync(host + s * kPart, part, kPart * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
  }
  for (int s = 1; s < kStreams; ++s) CHECK(cudaStreamWaitEvent(streams[0], done[s], 0));
  sum_of<<<1, 256, 0, streams[0]>>>(device, kAll, sum);
  int total = 0;
  CHECK(cudaMemcpyAsync(&total, sum, sizeof(int), cudaMemcpyDeviceToHost, streams[0]));
  CHECK(cudaStreamSynchronize(streams[0]));
  EXPECT(total == kAll * (kAll - 1));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kAll; ++i) EXPECT(host[i] == 2 * i);
  for (int s = 0; s < kStreams; ++s) {
    EXPECT(cudaStreamQuery(streams[s]) == cudaSuccess);
    CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaEventDestroy(done[s]));
  }
  float ms = 0;
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  EXPECT(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaSuccess);
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(device));
  CHECK(cudaFree(sum));
  return verdict();
}
