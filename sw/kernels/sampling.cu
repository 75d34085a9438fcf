// Textures and surfaces of every shape: volumes, layers, cubes, levels of a mipmap, filtered and gathered.
#include <cuda_runtime.h>

// A volume read between its texels: a quarter to the right, half a row down.
extern "C" __global__ void between(cudaTextureObject_t volume, float* __restrict__ out, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  out[(z * height + y) * width + x] = tex3D<float>(volume, x + 0.75f, y + 1.0f, z + 0.5f);
}

// Layers of bytes as numbers from 0 to 1, one period to the right of where they are.
extern "C" __global__ void layers(cudaTextureObject_t pixels, float4* __restrict__ out, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
  const float u = (x + 0.5f) / width + 1, v = (y + 0.5f) / height;
  out[(layer * height + y) * width + x] = tex2DLayered<float4>(pixels, u, v, layer);
}

// The mean of two levels, and the level that a step of two texels asks for.
extern "C" __global__ void levels(cudaTextureObject_t pyramid, float2* __restrict__ out, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  const float u = (x + 0.5f) / width, v = (y + 0.5f) / width, step = 2.0f / width;
  out[y * width + x] = make_float2(tex2DLod<float>(pyramid, u, v, 0.5f),
                                   tex2DGrad<float>(pyramid, u, v, make_float2(step, 0), make_float2(0, step)));
}

// Each texel of a cube, by a direction that leads to it.
extern "C" __global__ void directions(cudaTextureObject_t cube, float* __restrict__ out, int width) {
  const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
  const float s = (2 * x + 1.0f) / width - 1, t = (2 * y + 1.0f) / width - 1;
  float3 d;
  switch (face) {
    case 0: d = make_float3(1, -t, -s); break;
    case 1: d = make_float3(-1, -t, s); break;
    case 2: d = make_float3(s, 1, t); break;
    case 3: d = make_float3(s, -1, -t); break;
    case 4: d = make_float3(s, -t, 1); break;
    default: d = make_float3(-s, -t, -1); break;
  }
  out[(face * width + y) * width + x] = texCubemap<float>(cube, d.x, d.y, d.z);
}

// The four texels around each corner between texels.
extern "C" __global__ void corners(cudaTextureObject_t image, float4* __restrict__ out, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * width + x] = tex2Dgather<float4>(image, x + 1.0f, y + 1.0f, 0);
}

// A volume's slices become layers, each mirrored, and what lies beyond the volume is zero.
extern "C" __global__ void slices(cudaSurfaceObject_t volume, cudaSurfaceObject_t stack, int width) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  const int from = width - 1 - x;
  const int2 value = surf3Dread<int2>(volume, from * 8, y, z, cudaBoundaryModeZero);
  surf2DLayeredwrite(make_int2(value.y, value.x), stack, x * 8, y, z);
  surf3Dwrite(make_int2(-1, z), volume, from * 8, y, z, cudaBoundaryModeZero);
}
