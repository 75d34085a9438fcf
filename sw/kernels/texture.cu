// Textures and surfaces as CUDA's texture and surface objects reach them: unfiltered, by element.
#include <cuda_runtime.h>

// A 3 x 3 box around each texel, beyond the edges the edge itself: out[y][x] = sum of in[y-1..y+1][x-1..x+1].
extern "C" __global__ void box(cudaTextureObject_t in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(in, x + dx + 0.5f, y + dy + 0.5f);
  out[y * width + x] = sum;
}

// A palette in one dimension, looked up by the bytes of an image; the result goes to a surface, upside down.
extern "C" __global__ void paint(cudaTextureObject_t image, cudaTextureObject_t palette, cudaSurfaceObject_t out,
                                 int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const unsigned char index = tex2D<unsigned char>(image, x, y);
  const float4 colour = tex1Dfetch<float4>(palette, index);
  surf2Dwrite(colour, out, x * 16, height - 1 - y);
}

// Reads a surface and writes it back in place, element by element: what was written must be read again. Beyond the
// right edge zero is read and nothing written; the row before the first is the first.
extern "C" __global__ void shift(cudaSurfaceObject_t surface, short2* __restrict__ out, int width, int height) {
  const int x = threadIdx.x;
  for (int y = 0; y < height; ++y) {
    short2 own = surf2Dread<short2>(surface, x * 4, y);
    own.x += 1;
    surf2Dwrite(own, surface, x * 4, y, cudaBoundaryModeZero);
    __syncthreads();
    const short2 right = surf2Dread<short2>(surface, (x + 1) * 4, y, cudaBoundaryModeZero);
    const short2 above = surf2Dread<short2>(surface, x * 4, y - 1, cudaBoundaryModeClamp);
    out[y * width + x] = make_short2(right.x, above.y);
    __syncthreads();
  }
}
