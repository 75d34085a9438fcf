// A grid whose blocks wait for each other; one that does not fit is refused.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void sum(const int* values, int n, int* partial, int* total) {
  const cg::grid_group grid = cg::this_grid();
  int mine = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) mine += values[i];
  atomicAdd(&partial[blockIdx.x], mine);
  grid.sync();
  if (grid.thread_rank() != 0) return;
  int all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
  *total = all;
}

int main() {
  constexpr int kValues = 20000, kBlocks = 16;
  static int host[kValues];
  for (int i = 0; i < kValues; ++i) host[i] = i % 100;
  int *values, *partial, *total;
  CHECK(cudaMalloc(&values, sizeof host));
  CHECK(cudaMalloc(&partial, kBlocks * sizeof(int)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(partial, 0, kBlocks * sizeof(int)));
  int n = kValues;
  void* arguments[] = {&values, &n, &partial, &total};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(sum), dim3(kBlocks), dim3(256), arguments, 0, nullptr));
  int result = 0;
  CHECK(cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result == kValues / 100 * 4950);
  // Several are asked for before the first ends.
  CHECK(cudaMemset(partial, 0, kBlocks * sizeof(int)));
  for (int n = 0; n < 4; ++n)
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(sum), dim3(kBlocks), dim3(256), arguments, 0, nullptr));
  CHECK(cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result == 4 * (kValues / 100 * 4950));
  EXPECT(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(sum), dim3(1000000), dim3(256), arguments, 0, nullptr) ==
         cudaErrorCooperativeLaunchTooLarge);
  (void)cudaGetLastError();
  CHECK(cudaDeviceSynchronize());
  return verdict();
}
