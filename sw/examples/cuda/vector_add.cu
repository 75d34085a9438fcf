// Two vectors are added: memory of the GPU, copies, a launch, its time by events.
#include <vector>

#include "check.h"

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 50000;
  const std::size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), sum(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *on_a, *on_b, *on_sum;
  CHECK(cudaMalloc(&on_a, bytes));
  CHECK(cudaMalloc(&on_b, bytes));
  CHECK(cudaMalloc(&on_sum, bytes));
  CHECK(cudaMemcpy(on_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_b, b.data(), bytes, cudaMemcpyHostToDevice));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  add<<<(n + 255) / 256, 256>>>(on_a, on_b, on_sum, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(end));
  CHECK(cudaMemcpy(sum.data(), on_sum, bytes, cudaMemcpyDeviceToHost));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0 && ms < 10);
  for (int i = 0; i < n; ++i) EXPECT(sum[i] == static_cast<float>(3 * i));
  CHECK(cudaFree(on_a));
  CHECK(cudaFree(on_b));
  CHECK(cudaFree(on_sum));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return verdict();
}
