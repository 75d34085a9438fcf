// exec: --gpu mini | nvcc: -arch=sm_80
// Mipmapped arrays: each level made of the one before by a kernel, and read by level of detail; views of some
// levels, and in another format.
#include <cmath>
#include <vector>

#include "check.h"

namespace {

constexpr unsigned kSize = 16, kLevels = 5;

__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to, unsigned size) {
  const unsigned x = threadIdx.x, y = threadIdx.y;
  if (x >= size || y >= size) return;
  // The mean of four texels, by the filter.
  surf2Dwrite(tex2D<float>(from, (x + 0.5f) / size, (y + 0.5f) / size), to, int(x * sizeof(float)), int(y));
}

__global__ void read_levels(cudaTextureObject_t t, const float* level, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, level[threadIdx.x]);
}
__global__ void read_gradients(cudaTextureObject_t t, float* out) {
  const float step = exp2f(float(threadIdx.x)) / kSize;
  out[threadIdx.x] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(step, 0), make_float2(0, step));
}

cudaResourceDesc of_level(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureDesc linear() {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.normalizedCoords = 1;
  how.maxMipmapLevelClamp = 100;
  return how;
}

cudaMipmappedArray_t pyramid() {
  cudaMipmappedArray_t whole = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&whole, &format, make_cudaExtent(kSize, kSize, 0), 99,
                                 cudaArraySurfaceLoadStore));
  std::vector<float> image(kSize * kSize);
  for (unsigned i = 0; i < kSize * kSize; ++i) image[i] = float(i % kSize + 3 * (i / kSize));
  cudaArray_t level = nullptr;
  CHECK(cudaGetMipmappedArrayLevel(&level, whole, 0));
  CHECK(cudaMemcpy2DToArray(level, 0, 0, image.data(), kSize * 4, kSize * 4, kSize, cudaMemcpyHostToDevice));
  for (unsigned n = 1; n < kLevels; ++n) {
    cudaArray_t next = nullptr;
    CHECK(cudaGetMipmappedArrayLevel(&next, whole, n));
    cudaExtent extent{};
    CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, next));
    EXPECT(extent.width == kSize >> n && extent.height == kSize >> n && extent.depth == 0,
           "level %u: %zu by %zu", n, extent.width, extent.height);
    cudaResourceDesc from = of_level(level), to = of_level(next);
    const cudaTextureDesc how = linear();
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    CHECK(cudaCreateSurfaceObject(&surface, &to));
    halve<<<1, dim3(8, 8)>>>(texture, surface, kSize >> n);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaDestroyTextureObject(texture));
    level = next;
  }
  EXPECT(cudaGetMipmappedArrayLevel(&level, whole, kLevels) == cudaErrorInvalidValue,
         "there are five levels");
  (void)cudaGetLastError();
  return whole;
}

/// The mean of the four texels in the middle of a level; of the last the only one.
float middle(unsigned level) {
  // The image is linear, and so is each mean.
  (void)level;
  return (kSize - 1) / 2.0f * 4;
}

void levels(cudaMipmappedArray_t whole) {
  // What the kernels made of the last level.
  cudaArray_t last = nullptr;
  CHECK(cudaGetMipmappedArrayLevel(&last, whole, kLevels - 1));
  float mean = 0;
  CHECK(cudaMemcpy2DFromArray(&mean, 4, last, 0, 0, 4, 1, cudaMemcpyDeviceToHost));
  EXPECT(mean == middle(4), "the mean of all is %g, not %g", mean, middle(4));
  // A mark on each level: 100 times its number.
  for (unsigned n = 0; n < kLevels; ++n) {
    cudaArray_t level = nullptr;
    CHECK(cudaGetMipmappedArrayLevel(&level, whole, n));
    const std::vector<float> mark((kSize >> n) * (kSize >> n), 100.0f * n);
    CHECK(cudaMemcpyToArray(level, 0, 0, mark.data(), mark.size() * 4, cudaMemcpyHostToDevice));
  }
  const std::vector<float> asked = {-1, 0, 0.25f, 1, 1.75f, 2, 3.5f, 4, 9};
  float *level = nullptr, *out = nullptr;
  CHECK(cudaMallocManaged(&level, asked.size() * 4));
  CHECK(cudaMallocManaged(&out, asked.size() * 4));
  for (size_t i = 0; i < asked.size(); ++i) level[i] = asked[i];
  const struct {
    const char* what;
    bool linear;
    float bias, low, high;
    unsigned first, last;
  } cases[] = {{"nearest", false, 0, 0, 100, 0, 4},  {"linear", true, 0, 0, 100, 0, 4},
               {"biased", true, 0.5f, 0, 100, 0, 4}, {"clamped", true, 0, 0.5f, 2.5f, 0, 4},
               {"a view", true, 0, 0, 100, 1, 3},    {"a view, clamped", true, 0, 0.5f, 1.5f, 1, 3}};
  for (const auto& c : cases) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = whole;
    cudaTextureDesc how = linear();
    how.mipmapFilterMode = c.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.mipmapLevelBias = c.bias;
    how.minMipmapLevelClamp = c.low;
    how.maxMipmapLevelClamp = c.high;
    cudaResourceViewDesc view{};
    view.format = cudaResViewFormatFloat1;
    view.width = view.height = kSize;
    view.firstMipmapLevel = c.first;
    view.lastMipmapLevel = c.last;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, &view));
    cudaResourceViewDesc same{};
    CHECK(cudaGetTextureObjectResourceViewDesc(&same, texture));
    EXPECT(same.firstMipmapLevel == c.first && same.lastMipmapLevel == c.last, "%s: another view", c.what);
    read_levels<<<1, unsigned(asked.size())>>>(texture, level, out);
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < asked.size(); ++i) {
      float detail = asked[i] + c.bias;
      detail = std::fmin(std::fmax(detail, c.low), c.high);
      detail = std::fmin(std::fmax(detail, 0.0f), float(c.last - c.first));
      if (!c.linear) detail = std::floor(detail + 0.5f);
      const float expected = 100 * (detail + c.first);
      EXPECT(std::fabs(out[i] - expected) < 0.5f, "%s, level %g: %g, not %g", c.what, asked[i], out[i],
             expected);
    }
    if (c.first == 0 && c.bias == 0 && c.low == 0) {
      read_gradients<<<1, 5>>>(texture, out);
      CHECK(cudaDeviceSynchronize());
      for (int i = 0; i < 5; ++i)
        EXPECT(std::fabs(out[i] - 100.0f * i) < 0.5f, "%s, steps of %d texels: %g", c.what, 1 << i, out[i]);
    }
    CHECK(cudaDestroyTextureObject(texture));
  }
  CHECK(cudaFree(level));
  CHECK(cudaFree(out));
}

__global__ void read_bytes(cudaTextureObject_t t, uchar4* out) {
  *out = tex1D<uchar4>(t, 1.5f);
}
__global__ void read_layer(cudaTextureObject_t t, unsigned* out) {
  out[threadIdx.x] = tex1DLayered<unsigned>(t, 0.5f, int(threadIdx.x));
}

void views() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, 4));
  const unsigned words[] = {0, 0x04030201, 0, 0};
  CHECK(cudaMemcpyToArray(array, 0, 0, words, sizeof words, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = of_level(array);
  cudaTextureDesc how{};
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatUnsignedChar4;
  view.width = 4;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, &view));
  uchar4* bytes = nullptr;
  CHECK(cudaMallocManaged(&bytes, sizeof *bytes));
  read_bytes<<<1, 1>>>(texture, bytes);
  CHECK(cudaDeviceSynchronize());
  EXPECT(bytes->x == 1 && bytes->y == 2 && bytes->z == 3 && bytes->w == 4, "bytes of a word: %d %d %d %d",
         bytes->x, bytes->y, bytes->z, bytes->w);
  CHECK(cudaDestroyTextureObject(texture));
  view.width = 5;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &how, &view) == cudaErrorInvalidValue,
         "of another width");
  (void)cudaGetLastError();
  CHECK(cudaFreeArray(array));
  // Layers 2 and 3 of 5 alone.
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 0, 5), cudaArrayLayered));
  std::vector<unsigned> layers(8 * 5);
  for (unsigned i = 0; i < layers.size(); ++i) layers[i] = i / 8;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(layers.data(), 32, 8, 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(8, 1, 5);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  resource = of_level(array);
  view = {};
  view.format = cudaResViewFormatUnsignedInt1;
  view.width = 8;
  view.depth = 5;
  view.firstLayer = 2;
  view.lastLayer = 3;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, &view));
  unsigned* out = nullptr;
  CHECK(cudaMallocManaged(&out, 3 * sizeof *out));
  read_layer<<<1, 3>>>(texture, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 2 && out[1] == 3 && out[2] == 3, "layers %u %u %u", out[0], out[1], out[2]);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(out));
  CHECK(cudaFree(bytes));
  CHECK(cudaFreeArray(array));
}

}  // namespace

int main() {
  cudaMipmappedArray_t whole = pyramid();
  levels(whole);
  CHECK(cudaFreeMipmappedArray(whole));
  views();
  return verdict();
}
