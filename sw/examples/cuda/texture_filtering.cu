// exec: --gpu mini | nvcc: -arch=sm_80
// How textures are read: linear filters, coordinates beyond the edge, integers as numbers, gathered texels;
// against the arithmetic that the CUDA C++ Programming Guide gives ("Texture Fetching").
#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr int kWidth = 12, kHeight = 9, kPoints = 512;

/// What one texture is like, and what is read of it.
struct Case {
  const char* what;
  cudaTextureAddressMode mode;
  cudaTextureFilterMode filter;
  bool normalized;
};

__global__ void sample(cudaTextureObject_t t, const float2* at, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

/// Texel `i` of `n` in one dimension; -1: the border.
int within(int i, int n, cudaTextureAddressMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case cudaAddressModeWrap: return ((i % n) + n) % n;
    case cudaAddressModeClamp: return i < 0 ? 0 : n - 1;
    case cudaAddressModeMirror: {
      const int m = ((i % (2 * n)) + 2 * n) % (2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    default: return -1;
  }
}

float texel(const std::vector<float>& content, int x, int y, const Case& c, float border) {
  const bool repeats = c.mode == cudaAddressModeWrap || c.mode == cudaAddressModeMirror;
  const cudaTextureAddressMode mode = repeats && !c.normalized ? cudaAddressModeClamp : c.mode;
  const int i = within(x, kWidth, mode), j = within(y, kHeight, mode);
  return i < 0 || j < 0 ? border : content[j * kWidth + i];
}

float expected(const std::vector<float>& content, float2 at, const Case& c, float border) {
  const double x = c.normalized ? double(at.x) * kWidth : at.x,
               y = c.normalized ? double(at.y) * kHeight : at.y;
  if (c.filter == cudaFilterModePoint)
    return texel(content, int(std::floor(x)), int(std::floor(y)), c, border);
  const double xb = x - 0.5, yb = y - 0.5;
  const int i = int(std::floor(xb)), j = int(std::floor(yb));
  const double a = xb - i, b = yb - j;
  return float((1 - a) * (1 - b) * texel(content, i, j, c, border) +
               a * (1 - b) * texel(content, i + 1, j, c, border) +
               (1 - a) * b * texel(content, i, j + 1, c, border) +
               a * b * texel(content, i + 1, j + 1, c, border));
}

void filters() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight));
  std::vector<float> content(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) content[i] = float((i * 37) % 101) / 100;
  CHECK(cudaMemcpy2DToArray(array, 0, 0, content.data(), kWidth * 4, kWidth * 4, kHeight,
                            cudaMemcpyHostToDevice));
  float2* at = nullptr;
  float* out = nullptr;
  CHECK(cudaMalloc(&at, kPoints * sizeof(float2)));
  CHECK(cudaMalloc(&out, kPoints * sizeof(float)));
  constexpr cudaTextureAddressMode kModes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                               cudaAddressModeMirror, cudaAddressModeBorder};
  constexpr const char* kNames[] = {"wrap", "clamp", "mirror", "border"};
  for (const cudaTextureAddressMode mode : kModes)
    for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (const bool normalized : {false, true}) {
        const Case c = {kNames[mode], mode, filter, normalized};
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc how{};
        how.addressMode[0] = how.addressMode[1] = mode;
        how.filterMode = filter;
        how.normalizedCoords = normalized;
        how.borderColor[0] = 7;
        cudaTextureObject_t texture = 0;
        CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
        std::vector<float2> points(kPoints);
        for (int i = 0; i < kPoints; ++i) {
          // Beyond every edge; in 256ths, so that the filter's fraction is exact; away from a texel's edge.
          const float x = float((i * 97) % (3 * kWidth * 256)) / 256 - kWidth + 1.0f / 512;
          const float y = float((i * 61) % (3 * kHeight * 256)) / 256 - kHeight + 1.0f / 512;
          points[i] = normalized ? make_float2(x / kWidth, y / kHeight) : make_float2(x, y);
        }
        CHECK(cudaMemcpy(at, points.data(), kPoints * sizeof(float2), cudaMemcpyHostToDevice));
        sample<<<kPoints / 128, 128>>>(texture, at, out);
        std::vector<float> got(kPoints);
        CHECK(cudaMemcpy(got.data(), out, kPoints * sizeof(float), cudaMemcpyDeviceToHost));
        // A fraction of 8 bits is off by 1/512 at most, in either dimension.
        const float slack = filter == cudaFilterModePoint ? 0 : mode == cudaAddressModeBorder ? 0.06f : 0.01f;
        for (int i = 0; i < kPoints; ++i) {
          const float e = expected(content, points[i], c, 7);
          EXPECT(std::fabs(got[i] - e) <= slack, "%s%s%s at (%g, %g): %g, not %g", c.what,
                 filter ? " linear" : "", normalized ? " normalized" : "", points[i].x, points[i].y, got[i],
                 e);
        }
        CHECK(cudaDestroyTextureObject(texture));
      }
  CHECK(cudaFree(at));
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
}

template <class T>
__global__ void row_of(cudaTextureObject_t t, T* out) {
  out[threadIdx.x] = tex2D<T>(t, threadIdx.x + 0.5f, 0.5f);
}

template <class Element, class Read>
std::vector<Read> read_row(const std::vector<Element>& content, const cudaTextureDesc& how, int beyond = 0) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<Element>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, content.size(), 1));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, content.data(), content.size() * sizeof(Element),
                            content.size() * sizeof(Element), 1, cudaMemcpyDefault));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  std::vector<Read> got(content.size() + beyond);
  Read* out = nullptr;
  CHECK(cudaMalloc(&out, got.size() * sizeof(Read)));
  row_of<Read><<<1, unsigned(got.size())>>>(texture, out);
  CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(Read), cudaMemcpyDeviceToHost));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
  return got;
}

void formats() {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
  // Integers as they are; a border of integers is given by its bits.
  const int border[4] = {-3, 5, 2000000001, 9};
  std::memcpy(how.borderColor, border, sizeof border);
  const std::vector<int4> whole = {{1, -2, 3, -4}, {2000000000, 6, -7, 8}};
  const std::vector<int4> same = read_row<int4, int4>(whole, how, 1);
  for (int i = 0; i < 2; ++i)
    EXPECT(std::memcmp(&same[i], &whole[i], sizeof(int4)) == 0, "int4 %d is another one", i);
  EXPECT(std::memcmp(&same[2], border, sizeof border) == 0, "the border is %d %d %d %d", same[2].x, same[2].y,
         same[2].z, same[2].w);
  // Integers as numbers.
  how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  const std::vector<uchar4> bytes = {{0, 51, 102, 255}, {128, 1, 2, 3}};
  const std::vector<float4> numbers = read_row<uchar4, float4>(bytes, how);
  for (int i = 0; i < 2; ++i) {
    EXPECT(numbers[i].x == bytes[i].x / 255.0f && numbers[i].y == bytes[i].y / 255.0f &&
               numbers[i].z == bytes[i].z / 255.0f && numbers[i].w == bytes[i].w / 255.0f,
           "uchar4 %d is %g %g %g %g", i, numbers[i].x, numbers[i].y, numbers[i].z, numbers[i].w);
  }
  const std::vector<short> words = {-32768, -32767, 0, 32767};
  const std::vector<float> of_words = read_row<short, float>(words, how);
  EXPECT(of_words[0] == -1 && of_words[1] == -1 && of_words[2] == 0 && of_words[3] == 1,
         "short is %g %g %g %g", of_words[0], of_words[1], of_words[2], of_words[3]);
  // sRGB: the first three components, not the last.
  how.sRGB = 1;
  const std::vector<float4> linear = read_row<uchar4, float4>({{255, 0, 188, 188}}, how);
  const float middle = std::pow((188 / 255.0f + 0.055f) / 1.055f, 2.4f);
  EXPECT(linear[0].x == 1 && linear[0].y == 0 && std::fabs(linear[0].z - middle) < 1e-3f &&
             linear[0].w == 188 / 255.0f,
         "sRGB is %g %g %g %g", linear[0].x, linear[0].y, linear[0].z, linear[0].w);
}

__global__ void gather(cudaTextureObject_t t, float4* out) {
  out[0] = tex2Dgather<float4>(t, 2.0f, 3.0f, 0);
  out[1] = tex2Dgather<float4>(t, 2.0f, 3.0f, 1);
}

void gathered() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, 8, 8, cudaArrayTextureGather));
  std::vector<float2> content(64);
  for (int i = 0; i < 64; ++i) content[i] = make_float2(float(i), float(100 + i));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, content.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float4* out = nullptr;
  CHECK(cudaMallocManaged(&out, 2 * sizeof(float4)));
  gather<<<1, 1>>>(texture, out);
  CHECK(cudaDeviceSynchronize());
  // Counter-clockwise from the lower left, y downwards.
  for (int c = 0; c < 2; ++c)
    EXPECT(out[c].x == 25 + 100 * c && out[c].y == 26 + 100 * c && out[c].z == 18 + 100 * c &&
               out[c].w == 17 + 100 * c,
           "gathered %g %g %g %g", out[c].x, out[c].y, out[c].z, out[c].w);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
}

}  // namespace

int main() {
  filters();
  formats();
  gathered();
  return verdict();
}
