// exec: --gpu mini | nvcc: -lcuda
// Arrays, textures and surfaces of the driver API, in a program whose kernels are the runtime's: both are of
// one context, and handles of one are handles of the other.
#include <cuda.h>

#include <cstring>
#include <vector>

#include "check.h"

#define DRIVE(call)                                                                  \
  do {                                                                               \
    const CUresult result_ = (call);                                                 \
    if (result_ != CUDA_SUCCESS) {                                                   \
      std::printf("%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, int(result_)); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

namespace {

constexpr unsigned kWidth = 12, kHeight = 5, kDepth = 3;

__global__ void read_3d(CUtexObject t, float* out) {
  out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      tex3D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}
__global__ void read_bytes(CUtexObject t, float4* out) {
  out[threadIdx.x] = tex1Dfetch<float4>(t, int(threadIdx.x));
}
__global__ void write_2d(CUsurfObject s) {
  surf2Dwrite(float(100 * threadIdx.y + threadIdx.x), s, int(threadIdx.x * sizeof(float)), int(threadIdx.y));
}

void volumes() {
  CUDA_ARRAY3D_DESCRIPTOR shape{kWidth, kHeight, kDepth, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray array = nullptr;
  DRIVE(cuArray3DCreate(&array, &shape));
  CUDA_ARRAY3D_DESCRIPTOR same{};
  DRIVE(cuArray3DGetDescriptor(&same, array));
  EXPECT(std::memcmp(&same, &shape, sizeof same - 4) == 0, "another array");
  std::vector<float> content(kWidth * kHeight * kDepth), got(content.size());
  for (size_t i = 0; i < content.size(); ++i) content[i] = float(i);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = content.data();
  copy.srcPitch = kWidth * 4;
  copy.srcHeight = kHeight;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = kWidth * 4;
  copy.Height = kHeight;
  copy.Depth = kDepth;
  DRIVE(cuMemcpy3D(&copy));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  DRIVE(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  float* out = nullptr;
  CHECK(cudaMalloc(&out, got.size() * 4));
  read_3d<<<1, dim3(kWidth, kHeight, kDepth)>>>(texture, out);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  EXPECT(got == content, "the texture is another one");
  // A part of it comes back, as rows.
  std::vector<float> part(2 * 4);
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  rows.srcArray = array;
  rows.srcXInBytes = 8;
  rows.srcY = 1;
  rows.dstMemoryType = CU_MEMORYTYPE_HOST;
  rows.dstHost = part.data();
  rows.dstPitch = 16;
  rows.WidthInBytes = 16;
  rows.Height = 2;
  DRIVE(cuMemcpy2D(&rows));
  for (unsigned i = 0; i < 8; ++i)
    EXPECT(part[i] == (1 + i / 4) * kWidth + 2 + i % 4, "part %u: %g", i, part[i]);
  rows.srcY = kHeight - 1;
  EXPECT(cuMemcpy2D(&rows) == CUDA_ERROR_INVALID_VALUE, "beyond the array");
  DRIVE(cuTexObjectDestroy(texture));
  EXPECT(cuTexObjectDestroy(texture) == CUDA_ERROR_INVALID_VALUE, "destroyed twice");
  DRIVE(cuArrayDestroy(array));
  EXPECT(cuArrayDestroy(array) == CUDA_ERROR_INVALID_HANDLE, "freed twice");
  CHECK(cudaFree(out));
}

void plain_memory() {
  const unsigned char bytes[] = {0, 51, 255, 102, 1, 2, 3, 4};
  CUdeviceptr memory = 0;
  DRIVE(cuMemAlloc(&memory, sizeof bytes));
  DRIVE(cuMemcpyHtoD(memory, bytes, sizeof bytes));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
  resource.res.linear.numChannels = 4;
  resource.res.linear.sizeInBytes = sizeof bytes;
  // Integers are read as numbers unless said otherwise.
  CUDA_TEXTURE_DESC how{};
  CUtexObject texture = 0;
  DRIVE(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  float4* out = nullptr;
  CHECK(cudaMallocManaged(&out, 2 * sizeof *out));
  read_bytes<<<1, 2>>>(texture, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0].x == 0 && out[0].y == 0.2f && out[0].z == 1 && out[1].w == 4 / 255.0f, "%g %g %g %g",
         out[0].x, out[0].y, out[0].z, out[1].w);
  CUDA_RESOURCE_DESC whose{};
  DRIVE(cuTexObjectGetResourceDesc(&whose, texture));
  EXPECT(whose.resType == CU_RESOURCE_TYPE_LINEAR && whose.res.linear.devPtr == memory &&
             whose.res.linear.format == CU_AD_FORMAT_UNSIGNED_INT8 && whose.res.linear.numChannels == 4 &&
             whose.res.linear.sizeInBytes == sizeof bytes,
         "of other memory");
  CUDA_TEXTURE_DESC same{};
  DRIVE(cuTexObjectGetTextureDesc(&same, texture));
  EXPECT(std::memcmp(&same, &how, sizeof same) == 0, "another texture");
  DRIVE(cuTexObjectDestroy(texture));
  DRIVE(cuMemFree(memory));
  CHECK(cudaFree(out));
}

void mipmaps_and_surfaces() {
  CUDA_ARRAY3D_DESCRIPTOR shape{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUmipmappedArray whole = nullptr;
  DRIVE(cuMipmappedArrayCreate(&whole, &shape, 3));
  CUarray level = nullptr;
  DRIVE(cuMipmappedArrayGetLevel(&level, whole, 1));
  EXPECT(cuMipmappedArrayGetLevel(&level, whole, 3) == CUDA_ERROR_INVALID_VALUE, "there are three");
  CUDA_ARRAY_DESCRIPTOR size{};
  DRIVE(cuArrayGetDescriptor(&size, level));
  EXPECT(size.Width == 4 && size.Height == 4, "%zu by %zu", size.Width, size.Height);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = level;
  CUsurfObject surface = 0;
  DRIVE(cuSurfObjectCreate(&surface, &resource));
  write_2d<<<1, dim3(4, 4)>>>(surface);
  float row[4];
  DRIVE(cuMemcpyAtoH(row, level, 0, sizeof row));
  EXPECT(row[0] == 0 && row[3] == 3, "%g %g", row[0], row[3]);
  std::vector<float> got(16);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = level;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = got.data();
  copy.WidthInBytes = 16;
  copy.Height = 4;
  copy.Depth = 1;
  DRIVE(cuMemcpy3D(&copy));
  for (unsigned i = 0; i < 16; ++i) EXPECT(got[i] == 100 * (i / 4) + i % 4, "element %u: %g", i, got[i]);
  DRIVE(cuSurfObjectDestroy(surface));
  DRIVE(cuMipmappedArrayDestroy(whole));
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  DRIVE(cuInit(0));
  volumes();
  plain_memory();
  mipmaps_and_surfaces();
  return verdict();
}
