// exec: --gpu mini | nvcc: -arch=sm_80
// What programs do with textures: an image shifted with wrap-around from pitched memory and from an array, a
// bicubic filter made of four linear ones, and layers that are each worked on by a kernel of a stream of its
// own.
#include <cmath>
#include <vector>

#include "check.h"

namespace {

cudaTextureObject_t make(const cudaResourceDesc& resource, cudaTextureAddressMode mode,
                         cudaTextureFilterMode filter, bool normalized) {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalized;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

__global__ void shift(cudaTextureObject_t t, float* out, size_t pitch, int width, int height, int dx,
                      int dy) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  out[y * pitch / sizeof(float) + x] =
      tex2D<float>(t, (x + dx + 0.5f) / float(width), (y + dy + 0.5f) / float(height));
}

void shifted() {
  constexpr int kWidth = 64, kHeight = 32, kDx = 16, kDy = 9;
  std::vector<float> image(kWidth * kHeight), got(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i);
  float *memory = nullptr, *out = nullptr;
  size_t pitch = 0, out_pitch = 0;
  CHECK(cudaMallocPitch(&memory, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(cudaMallocPitch(&out, &out_pitch, kWidth * sizeof(float), kHeight));
  CHECK(cudaMemcpy2D(memory, pitch, image.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, memory, pitch, kWidth * 4, kHeight, cudaMemcpyDeviceToDevice));
  cudaResourceDesc of_memory{}, of_array{};
  of_memory.resType = cudaResourceTypePitch2D;
  of_memory.res.pitch2D.devPtr = memory;
  of_memory.res.pitch2D.desc = format;
  of_memory.res.pitch2D.width = kWidth;
  of_memory.res.pitch2D.height = kHeight;
  of_memory.res.pitch2D.pitchInBytes = pitch;
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  for (const cudaResourceDesc& resource : {of_memory, of_array}) {
    const cudaTextureObject_t texture = make(resource, cudaAddressModeWrap, cudaFilterModePoint, true);
    CHECK(cudaMemset2D(out, out_pitch, 0, kWidth * 4, kHeight));
    shift<<<dim3(kWidth / 16, kHeight / 16), dim3(16, 16)>>>(texture, out, out_pitch, kWidth, kHeight, kDx,
                                                             kDy);
    CHECK(cudaMemcpy2D(got.data(), kWidth * 4, out, out_pitch, kWidth * 4, kHeight, cudaMemcpyDeviceToHost));
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        EXPECT(got[y * kWidth + x] == image[(y + kDy) % kHeight * kWidth + (x + kDx) % kWidth],
               "shifted at (%d, %d): %g", x, y, got[y * kWidth + x]);
    CHECK(cudaDestroyTextureObject(texture));
  }
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(memory));
  CHECK(cudaFree(out));
}

/// Weights of a cubic B-spline at a fraction `a` of the way from the second of four texels to the third.
__host__ __device__ void weights(float a, float w[4]) {
  w[0] = (1 - a) * (1 - a) * (1 - a) / 6;
  w[1] = (4 - 6 * a * a + 3 * a * a * a) / 6;
  w[2] = (1 + 3 * a + 3 * a * a - 3 * a * a * a) / 6;
  w[3] = a * a * a / 6;
}

__global__ void bicubic(cudaTextureObject_t t, float* out, int width, float scale) {
  const int x = int(threadIdx.x), y = int(blockIdx.x);
  const float u = x * scale, v = y * scale, i = floorf(u), j = floorf(v);
  float wx[4], wy[4];
  weights(u - i, wx);
  weights(v - j, wy);
  const float gx[2] = {wx[0] + wx[1], wx[2] + wx[3]}, gy[2] = {wy[0] + wy[1], wy[2] + wy[3]};
  float sum = 0;
  for (int q = 0; q < 2; ++q)
    for (int p = 0; p < 2; ++p)
      sum += gx[p] * gy[q] *
             tex2D<float>(t, i + 2 * p - 1 + wx[2 * p + 1] / gx[p] + 0.5f,
                          j + 2 * q - 1 + wy[2 * q + 1] / gy[q] + 0.5f);
  out[y * width + x] = sum;
}

void filtered() {
  constexpr int kSize = 16, kOut = 48;
  const float scale = float(kSize - 1) / kOut;
  std::vector<float> image(kSize * kSize), got(kOut * kOut);
  for (int i = 0; i < kSize * kSize; ++i) image[i] = float((i * 53) % 64) / 64;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kSize, kSize));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), kSize * 4, kSize * 4, kSize, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureObject_t texture = make(resource, cudaAddressModeClamp, cudaFilterModeLinear, false);
  float* out = nullptr;
  CHECK(cudaMalloc(&out, got.size() * 4));
  bicubic<<<kOut, kOut>>>(texture, out, kOut, scale);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  const auto clamp = [](int i) { return i < 0 ? 0 : i >= kSize ? kSize - 1 : i; };
  for (int y = 0; y < kOut; ++y)
    for (int x = 0; x < kOut; ++x) {
      const int i = int(x * scale), j = int(y * scale);
      float wx[4], wy[4], sum = 0;
      weights(x * scale - float(i), wx);
      weights(y * scale - float(j), wy);
      for (int q = 0; q < 4; ++q)
        for (int p = 0; p < 4; ++p) sum += wx[p] * wy[q] * image[clamp(j + q - 1) * kSize + clamp(i + p - 1)];
      EXPECT(std::fabs(got[y * kOut + x] - sum) < 0.01f, "bicubic at (%d, %d): %g, not %g", x, y,
             got[y * kOut + x], sum);
    }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
}

__global__ void negate(cudaTextureObject_t t, float* out, int size, int layer) {
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  out[y * size + x] =
      float(layer) - tex2DLayered<float>(t, (x + 0.5f) / float(size), (y + 0.5f) / float(size), layer);
}

void layers() {
  constexpr int kSize = 16, kLayers = 5;
  std::vector<float> image(kSize * kSize * kLayers), got(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSize, kSize, kLayers), cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(image.data(), kSize * sizeof(float), kSize, kSize);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kSize, kSize, kLayers);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureObject_t texture = make(resource, cudaAddressModeWrap, cudaFilterModeLinear, true);
  float* out = nullptr;
  CHECK(cudaMalloc(&out, got.size() * 4));
  cudaStream_t streams[kLayers];
  for (int n = 0; n < kLayers; ++n) {
    CHECK(cudaStreamCreate(&streams[n]));
    negate<<<1, dim3(kSize, kSize), 0, streams[n]>>>(texture, out + n * kSize * kSize, kSize, n);
  }
  // Grids that were launched before still have it.
  CHECK(cudaDestroyTextureObject(texture));
  for (cudaStream_t stream : streams) {
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
  }
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT(got[i] == float(i / (kSize * kSize)) - image[i], "element %zu: %g", i, got[i]);
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
}

}  // namespace

int main() {
  shifted();
  filtered();
  layers();
  return verdict();
}
