// exec: --gpu mini | nvcc: -arch=sm_80
// Surfaces of every shape: a kernel writes them, and the host, another kernel and a texture see what it
// wrote.
#include <cstring>
#include <vector>

#include "check.h"

namespace {

__device__ __host__ int content(unsigned x, unsigned y, unsigned z) {
  return int(1000000 * z + 1000 * y + x) - 7;
}

__global__ void write_1d(cudaSurfaceObject_t s) {
  surf1Dwrite(content(threadIdx.x, 0, 0), s, threadIdx.x * sizeof(int));
}
__global__ void write_2d(cudaSurfaceObject_t s) {
  surf2Dwrite(content(threadIdx.x, threadIdx.y, 0), s, threadIdx.x * sizeof(int), threadIdx.y);
}
__global__ void write_3d(cudaSurfaceObject_t s) {
  surf3Dwrite(content(threadIdx.x, threadIdx.y, threadIdx.z), s, threadIdx.x * sizeof(int), threadIdx.y,
              threadIdx.z);
}
__global__ void write_1d_layered(cudaSurfaceObject_t s) {
  surf1DLayeredwrite(content(threadIdx.x, 0, threadIdx.z), s, threadIdx.x * sizeof(int), threadIdx.z);
}
__global__ void write_2d_layered(cudaSurfaceObject_t s) {
  surf2DLayeredwrite(content(threadIdx.x, threadIdx.y, threadIdx.z), s, threadIdx.x * sizeof(int),
                     threadIdx.y, threadIdx.z);
}
__global__ void write_cube(cudaSurfaceObject_t s) {
  surfCubemapwrite(content(threadIdx.x, threadIdx.y, threadIdx.z), s, threadIdx.x * sizeof(int), threadIdx.y,
                   threadIdx.z);
}
__global__ void write_cube_layered(cudaSurfaceObject_t s) {
  surfCubemapLayeredwrite(content(threadIdx.x, threadIdx.y, threadIdx.z), s, threadIdx.x * sizeof(int),
                          threadIdx.y, threadIdx.z);
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

void shapes() {
  const struct {
    const char* what;
    void (*write)(cudaSurfaceObject_t);
    cudaExtent extent;
    unsigned flags;
  } all[] = {
      {"1D", write_1d, {40, 0, 0}, 0},
      {"2D", write_2d, {17, 9, 0}, 0},
      {"3D", write_3d, {7, 5, 6}, 0},
      {"1D layered", write_1d_layered, {30, 0, 5}, cudaArrayLayered},
      {"2D layered", write_2d_layered, {9, 8, 4}, cudaArrayLayered},
      {"cube", write_cube, {8, 8, 6}, cudaArrayCubemap},
      {"cube layered", write_cube_layered, {4, 4, 12}, cudaArrayCubemap | cudaArrayLayered},
  };
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  for (const auto& s : all) {
    const dim3 size(s.extent.width, s.extent.height ? s.extent.height : 1,
                    s.extent.depth ? s.extent.depth : 1);
    cudaArray_t array = nullptr;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaMalloc3DArray(&array, &format, s.extent, s.flags));
    cudaResourceDesc resource = of_array(array);
    EXPECT(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue,
           "%s: not meant for surfaces", s.what);
    CHECK(cudaFreeArray(array));
    CHECK(cudaMalloc3DArray(&array, &format, s.extent, s.flags | cudaArraySurfaceLoadStore));
    resource = of_array(array);
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    cudaResourceDesc whose{};
    CHECK(cudaGetSurfaceObjectResourceDesc(&whose, surface));
    EXPECT(whose.res.array.array == array, "%s: of another array", s.what);
    s.write<<<1, size>>>(surface);
    std::vector<int> got(size.x * size.y * size.z);
    cudaMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(got.data(), size.x * sizeof(int), size.x, size.y);
    copy.extent = make_cudaExtent(size.x, size.y, size.z);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (unsigned z = 0, i = 0; z < size.z; ++z)
      for (unsigned y = 0; y < size.y; ++y)
        for (unsigned x = 0; x < size.x; ++x, ++i)
          EXPECT(got[i] == content(x, y, z), "%s at (%u, %u, %u): %d, not %d", s.what, x, y, z, got[i],
                 content(x, y, z));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
  }
  (void)cudaGetLastError();
}

/// Turns an image by 90 degrees, from a texture to a surface.
__global__ void turn(cudaTextureObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < width && y < height)
    surf2Dwrite(tex2D<uchar4>(from, x + 0.5f, y + 0.5f), to, (height - 1 - y) * int(sizeof(uchar4)), x);
}
__global__ void add(cudaSurfaceObject_t s, int width, int height) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  uchar4 c = surf2Dread<uchar4>(s, x * int(sizeof(uchar4)), y);
  c.w += 1;
  surf2Dwrite(c, s, x * int(sizeof(uchar4)), y);
}

void through_textures() {
  constexpr int kWidth = 50, kHeight = 20;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t from = nullptr, to = nullptr;
  CHECK(cudaMallocArray(&from, &format, kWidth, kHeight));
  CHECK(cudaMallocArray(&to, &format, kHeight, kWidth, cudaArraySurfaceLoadStore));
  std::vector<uchar4> image(kWidth * kHeight), got(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i)
    image[i] =
        make_uchar4(static_cast<unsigned char>(i % kWidth), static_cast<unsigned char>(i / kWidth), 77, 1);
  CHECK(cudaMemcpyToArray(from, 0, 0, image.data(), image.size() * sizeof(uchar4), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = of_array(from);
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  resource = of_array(to);
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  const dim3 block(16, 16);
  turn<<<dim3((kWidth + 15) / 16, (kHeight + 15) / 16), block>>>(texture, surface, kWidth, kHeight);
  add<<<dim3((kHeight + 15) / 16, (kWidth + 15) / 16), block>>>(surface, kHeight, kWidth);
  CHECK(cudaMemcpyFromArray(got.data(), to, 0, 0, got.size() * sizeof(uchar4), cudaMemcpyDeviceToHost));
  for (int y = 0; y < kWidth; ++y)
    for (int x = 0; x < kHeight; ++x) {
      const uchar4 c = got[y * kHeight + x];
      EXPECT(c.x == y && c.y == kHeight - 1 - x && c.z == 77 && c.w == 2, "turned at (%d, %d): %d %d %d %d",
             x, y, c.x, c.y, c.z, c.w);
    }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(from));
  CHECK(cudaFreeArray(to));
}

/// Beyond the edge: nothing, or what is nearest.
__global__ void beyond(cudaSurfaceObject_t s, int* out) {
  const int x = int(threadIdx.x) - 4;
  out[threadIdx.x] = surf1Dread<int>(s, x * int(sizeof(int)), cudaBoundaryModeZero);
  out[threadIdx.x + 16] = surf1Dread<int>(s, x * int(sizeof(int)), cudaBoundaryModeClamp);
}

void edges() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, 8, 0, cudaArraySurfaceLoadStore));
  int whole[8], *out = nullptr;
  for (int i = 0; i < 8; ++i) whole[i] = 10 + i;
  CHECK(cudaMemcpy2DToArray(array, 0, 0, whole, sizeof whole, sizeof whole, 1, cudaMemcpyHostToDevice));
  const cudaResourceDesc resource = of_array(array);
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  CHECK(cudaMallocManaged(&out, 32 * sizeof(int)));
  beyond<<<1, 16>>>(surface, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 16; ++i) {
    const int x = i - 4, near = x < 0 ? 0 : x > 7 ? 7 : x;
    EXPECT(out[i] == (x == near ? 10 + x : 0), "zero at %d: %d", x, out[i]);
    EXPECT(out[i + 16] == 10 + near, "clamp at %d: %d", x, out[i + 16]);
  }
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFree(out));
  CHECK(cudaFreeArray(array));
}

}  // namespace

int main() {
  shapes();
  through_textures();
  edges();
  return verdict();
}
