// Eight threads, each with a stream and memory of its own.
#include <thread>
#include <vector>

#include "check.h"

__global__ void add(int* values, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += what;
}

static bool work(int number) {
  constexpr int kValues = 2000;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int *values, *host;
  CHECK(cudaMalloc(&values, kValues * sizeof(int)));
  CHECK(cudaMallocHost(&host, kValues * sizeof(int)));
  CHECK(cudaMemsetAsync(values, 0, kValues * sizeof(int), stream));
  for (int round = 0; round < 10; ++round) add<<<8, 256, 0, stream>>>(values, kValues, number);
  CHECK(cudaMemcpyAsync(host, values, kValues * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  bool right = true;
  for (int i = 0; i < kValues; ++i) right = right && host[i] == 10 * number;
  CHECK(cudaFree(values));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(stream));
  return right;
}

int main() {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  bool right[kThreads] = {};
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([t, &right] { right[t] = work(t + 1); });
  for (std::thread& t : threads) t.join();
  for (const bool r : right) EXPECT(r);
  return verdict();
}
