// Target: sm_75
// Streams of doubles, one element to a thread, as many blocks as that takes: what a block costs shows where few
// threads are resident. Shared memory given at launch limits the blocks of an SM.
extern "C" __global__ void stream_read(const double* a, double* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && a[i] == 0.7) out[0] = a[i];
}
extern "C" __global__ void stream_write(double* a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 0.23;
}
extern "C" __global__ void stream_scale(double* a, const double* b, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] * 1.2;
}
extern "C" __global__ void stream_triad(double* a, const double* b, const double* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + 0.1 * c[i];
}
// 16 bytes to a thread, grid-stride.
extern "C" __global__ void stream_read16(const float4* a, float4* out, unsigned n) {
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = a[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 0.7f) out[0].x = sum;
}
extern "C" __global__ void stream_write16(float4* a, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] = make_float4(1, 2, 3, 4);
}
// A copy by volatile words, to and fro.
extern "C" __global__ void copy_volatile(volatile unsigned* a, volatile unsigned* b, unsigned n, unsigned rounds) {
  for (unsigned r = 0; r < rounds; ++r)
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      if (r % 2 == 0) b[i] = a[i];
      else a[i] = b[i];
}
