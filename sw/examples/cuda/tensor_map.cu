// exec: --gpu h100 | nvcc: -arch=sm_90a
// A matrix that is transposed tile by tile: copies of tensors bring tiles by a map that the host encodes, which
// the kernel gets as a parameter.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "driver_check.h"

constexpr unsigned kTile = 16;

__global__ void transpose(const __grid_constant__ CUtensorMap map, int* out, unsigned rows) {
  __shared__ alignas(128) int tile[kTile][kTile];
  __shared__ alignas(8) std::uint64_t barrier;
  const auto shared = [](const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); };
  const unsigned thread = threadIdx.y * kTile + threadIdx.x;
  if (thread == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async.shared::cta;");
  }
  __syncthreads();
  if (thread == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&barrier)),
                 "r"(unsigned(sizeof tile)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared(tile)),
        "l"(&map), "r"(blockIdx.x * kTile), "r"(blockIdx.y * kTile), "r"(shared(&barrier))
        : "memory");
  }
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(shared(&barrier))
        : "memory");
  const unsigned to_row = blockIdx.x * kTile + threadIdx.y, to_column = blockIdx.y * kTile + threadIdx.x;
  if (to_column < rows) out[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  constexpr unsigned kColumns = 64, kRows = 40;
  std::vector<int> in(kRows * kColumns), out(kRows * kColumns, -1);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = int(i * 3 + 1);
  int *device_in = nullptr, *device_out = nullptr;
  cudaMalloc(&device_in, in.size() * sizeof(int));
  cudaMalloc(&device_out, out.size() * sizeof(int));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);

  // Programs that do not link with libcuda ask the runtime for the function.
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                          &found) == cudaSuccess &&
         found == cudaDriverEntryPointSuccess);
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  CUtensorMap map;
  const cuuint64_t shape[] = {kColumns, kRows}, strides[] = {kColumns * sizeof(int)};
  const cuuint32_t box[] = {kTile, kTile}, steps[] = {1, 1};
  EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, device_in, shape, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  // A box of more than 256 elements is none.
  const cuuint32_t wide[] = {512, kTile};
  CUtensorMap none;
  EXPECT(encode(&none, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, device_in, shape, strides, wide, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE);
  transpose<<<dim3(kColumns / kTile, (kRows + kTile - 1) / kTile), dim3(kTile, kTile)>>>(map, device_out, kRows);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  cudaMemcpy(out.data(), device_out, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned column = 0; column < kColumns; ++column)
      EXPECT(out[column * kRows + row] == in[row * kColumns + column]);
  std::puts("PASSED");
}
