// exec: | nvcc: -lcuda
// Memory that grows without moving: blocks are mapped next to each other at addresses that the program
// reserves.
#include <vector>

#include "driver_check.h"

__global__ void fill(unsigned* values, size_t count) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
    values[i * 1024] = unsigned(i);
}

int main() {
  cudaFree(nullptr);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  size_t step = 0;
  CHECK(cuMemGetAllocationGranularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(step > 0);
  size_t free_before = 0, free_after = 0, total = 0;
  CHECK(cuMemGetInfo(&free_before, &total));

  constexpr size_t kBlocks = 4;
  CUdeviceptr base = 0;
  CHECK(cuMemAddressReserve(&base, kBlocks * step, 0, 0, 0));
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  std::vector<CUmemGenericAllocationHandle> blocks(kBlocks);
  for (size_t i = 0; i < kBlocks; ++i) {
    CHECK(cuMemCreate(&blocks[i], step, &properties, 0));
    CHECK(cuMemMap(base + i * step, step, 0, blocks[i], 0));
    EXPECT(cuMemMap(base + i * step, step, 0, blocks[i], 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemSetAccess(base + i * step, step, &access, 1));
  }
  unsigned long long flags = 0;
  CHECK(cuMemGetAccess(&flags, &access.location, base + step));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

  // A kernel, a fill and copies across the blocks.
  const size_t words = kBlocks * step / sizeof(unsigned);
  CHECK(cuMemsetD32(base, 0xABCD, words));
  fill<<<4, 128>>>(reinterpret_cast<unsigned*>(base), words / 1024);
  CHECK(cuCtxSynchronize());
  std::vector<unsigned> found(words);
  CHECK(cuMemcpyDtoH(found.data(), base, kBlocks * step));
  for (size_t i = 0; i < words; ++i) EXPECT(found[i] == (i % 1024 == 0 ? i / 1024 : 0xABCD));

  // The same block elsewhere has the same bytes; the first mapping goes, the block stays.
  CUdeviceptr other = 0;
  CHECK(cuMemAddressReserve(&other, step, 0, 0, 0));
  CHECK(cuMemUnmap(base + step, step));
  EXPECT(cuMemcpyDtoH(found.data(), base + step, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(other, step, 0, blocks[1], 0));
  CHECK(cuMemSetAccess(other, step, &access, 1));
  CHECK(cuMemcpyDtoH(found.data(), other, step));
  EXPECT(found[0] == step / sizeof(unsigned) / 1024 && found[1] == 0xABCD);
  CHECK(cuMemUnmap(other, step));
  CHECK(cuMemMap(base + step, step, 0, blocks[1], 0));

  CHECK(cuMemUnmap(base, kBlocks * step));
  for (CUmemGenericAllocationHandle block : blocks) CHECK(cuMemRelease(block));
  EXPECT(cuMemRelease(blocks[0]) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(other, step));
  CHECK(cuMemAddressFree(base, kBlocks * step));
  CHECK(cuMemGetInfo(&free_after, &total));
  EXPECT(free_after + (size_t(1) << 20) > free_before);
  std::puts("PASSED");
}
