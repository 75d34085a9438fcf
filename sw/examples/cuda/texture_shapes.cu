// exec: --gpu mini | nvcc: -arch=sm_80
// Textures of every shape and of every kind of memory, each read where its elements lie.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, bool normalized = false) {
  cudaTextureDesc how{};
  how.normalizedCoords = normalized;
  for (cudaTextureAddressMode& mode : how.addressMode) mode = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

/// An array of floats that counts its elements from `first` on.
cudaArray_t counting(cudaExtent extent, unsigned flags, float first) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
  const size_t height = extent.height ? extent.height : 1, depth = extent.depth ? extent.depth : 1;
  std::vector<float> content(extent.width * height * depth);
  for (size_t i = 0; i < content.size(); ++i) content[i] = first + float(i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(content.data(), extent.width * sizeof(float), extent.width, height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, height, depth);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

__global__ void read_1d(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex1D<float>(t, threadIdx.x + 0.5f);
}
__global__ void read_2d(cudaTextureObject_t t, float* out) {
  out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}
__global__ void read_2d_normalized(cudaTextureObject_t t, float* out) {
  out[threadIdx.y * blockDim.x + threadIdx.x] =
      tex2D<float>(t, (threadIdx.x + 0.5f) / blockDim.x, (threadIdx.y + 0.5f) / blockDim.y);
}
__global__ void read_3d(cudaTextureObject_t t, float* out) {
  out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      tex3D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}
__global__ void read_1d_layered(cudaTextureObject_t t, float* out) {
  out[threadIdx.y * blockDim.x + threadIdx.x] = tex1DLayered<float>(t, threadIdx.x + 0.5f, threadIdx.y);
}
__global__ void read_2d_layered(cudaTextureObject_t t, float* out) {
  out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      tex2DLayered<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z);
}
/// The direction through texel (x, y) of a face of `size`: +x, -x, +y, -y, +z, -z.
__device__ float3 direction(unsigned face, unsigned x, unsigned y, unsigned size) {
  const float u = (x + 0.5f) / size * 2 - 1, v = (y + 0.5f) / size * 2 - 1;
  switch (face) {
    case 0: return make_float3(1, -v, -u);
    case 1: return make_float3(-1, -v, u);
    case 2: return make_float3(u, 1, v);
    case 3: return make_float3(u, -1, -v);
    case 4: return make_float3(u, -v, 1);
    default: return make_float3(-u, -v, -1);
  }
}
__global__ void read_cube(cudaTextureObject_t t, float* out) {
  const float3 d = direction(threadIdx.z, threadIdx.x, threadIdx.y, blockDim.x);
  out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      texCubemap<float>(t, d.x, d.y, d.z);
}
__global__ void read_cube_layered(cudaTextureObject_t t, float* out) {
  const float3 d = direction(threadIdx.z % 6, threadIdx.x, threadIdx.y, blockDim.x);
  out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
      texCubemapLayered<float>(t, d.x, d.y, d.z, threadIdx.z / 6);
}
/// One element beyond the end, too: there is 0.
__global__ void fetch(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}

using Reader = void (*)(cudaTextureObject_t, float*);

void expect_counting(const char* what, Reader reader, cudaTextureObject_t texture, dim3 block, float first,
                     unsigned zeros = 0) {
  const unsigned count = block.x * block.y * block.z;
  float* out = nullptr;
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  reader<<<1, block>>>(texture, out);
  std::vector<float> got(count);
  CHECK(cudaMemcpy(got.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < count; ++i) {
    const float expected = i < count - zeros ? first + float(i) : 0;
    EXPECT(got[i] == expected, "%s: element %u is %g, not %g", what, i, got[i], expected);
  }
  CHECK(cudaFree(out));
  CHECK(cudaDestroyTextureObject(texture));
}

void of_arrays() {
  const struct {
    const char* what;
    Reader reader;
    cudaExtent extent;
    unsigned flags;
    dim3 block;
    bool normalized;
  } shapes[] = {
      {"1D", read_1d, {19, 0, 0}, 0, {19}, false},
      {"2D", read_2d, {13, 7, 0}, 0, {13, 7}, false},
      {"2D, normalized", read_2d_normalized, {16, 8, 0}, 0, {16, 8}, true},
      {"3D", read_3d, {5, 6, 7}, 0, {5, 6, 7}, false},
      {"1D layered", read_1d_layered, {21, 0, 4}, cudaArrayLayered, {21, 4}, false},
      {"2D layered", read_2d_layered, {9, 5, 3}, cudaArrayLayered, {9, 5, 3}, false},
      {"cube", read_cube, {4, 4, 6}, cudaArrayCubemap, {4, 4, 6}, true},
      {"cube layered", read_cube_layered, {4, 4, 18}, cudaArrayCubemap | cudaArrayLayered, {4, 4, 18}, true},
  };
  for (const auto& s : shapes) {
    cudaArray_t array = counting(s.extent, s.flags, 3);
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 77;
    CHECK(cudaArrayGetInfo(&format, &extent, &flags, array));
    EXPECT(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat && flags == s.flags &&
               std::memcmp(&extent, &s.extent, sizeof extent) == 0,
           "%s: the array is another one", s.what);
    expect_counting(s.what, s.reader, texture_of(of_array(array), s.normalized), s.block, 3);
    CHECK(cudaFreeArray(array));
  }
}

void of_linear_memory() {
  constexpr unsigned kCount = 100;
  std::vector<float> content(kCount);
  for (unsigned i = 0; i < kCount; ++i) content[i] = 1 + float(i);
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, 2 * kCount * sizeof(float)));
  CHECK(cudaMemset(memory, 0xFF, 2 * kCount * sizeof(float)));
  CHECK(cudaMemcpy(memory, content.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = kCount * sizeof(float);
  expect_counting("linear", fetch, texture_of(resource), kCount + 3, 1, 3);
  CHECK(cudaFree(memory));
}

void of_pitched_memory() {
  constexpr unsigned kWidth = 30, kHeight = 11;
  std::vector<float> content(kWidth * kHeight);
  for (size_t i = 0; i < content.size(); ++i) content[i] = 9 + float(i);
  void* memory = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&memory, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(cudaMemcpy2D(memory, pitch, content.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                     cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = kWidth;
  resource.res.pitch2D.height = kHeight;
  resource.res.pitch2D.pitchInBytes = pitch;
  expect_counting("pitched", read_2d, texture_of(resource), dim3(kWidth, kHeight), 9);
  CHECK(cudaFree(memory));
}

void refused() {
  cudaTextureObject_t texture = 0;
  cudaTextureDesc how{};
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &how, nullptr) == cudaErrorInvalidValue, "of no array");
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  EXPECT(cudaMallocArray(&array, &three, 8, 8) == cudaErrorInvalidChannelDescriptor, "three components");
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
  EXPECT(cudaMallocArray(&array, &bytes, size_t(1) << 20, 8) == cudaErrorInvalidValue, "too wide");
  EXPECT(
      cudaMalloc3DArray(&array, &bytes, make_cudaExtent(8, 8, 5), cudaArrayCubemap) == cudaErrorInvalidValue,
      "a cube of five faces");
  CHECK(cudaMallocArray(&array, &bytes, 8, 8));
  resource.res.array.array = array;
  how.filterMode = cudaFilterModeLinear;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &how, nullptr) == cudaErrorInvalidFilterSetting,
         "integers are not filtered");
  how.readMode = cudaReadModeNormalizedFloat;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaTextureDesc same{};
  CHECK(cudaGetTextureObjectTextureDesc(&same, texture));
  EXPECT(std::memcmp(&same, &how, sizeof same) == 0, "the texture is another one");
  cudaResourceDesc whose{};
  CHECK(cudaGetTextureObjectResourceDesc(&whose, texture));
  EXPECT(whose.resType == cudaResourceTypeArray && whose.res.array.array == array, "of another array");
  CHECK(cudaDestroyTextureObject(texture));
  EXPECT(cudaDestroyTextureObject(texture) == cudaErrorInvalidValue, "destroyed twice");
  EXPECT(cudaGetTextureObjectTextureDesc(&same, texture) == cudaErrorInvalidValue, "it was destroyed");
  CHECK(cudaFreeArray(array));
  EXPECT(cudaFreeArray(array) == cudaErrorInvalidValue, "freed twice");
  (void)cudaGetLastError();
}

}  // namespace

int main() {
  of_arrays();
  of_linear_memory();
  of_pitched_memory();
  refused();
  return verdict();
}
